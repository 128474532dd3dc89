// The critical path, on timelines small enough to draw.
#include "sim/timeline/critical_path.hpp"

#include <doctest/doctest.h>

using namespace stepsim;

namespace {

enum RowIndex : std::uint16_t { kCompute, kData, kHost, kLoader };

RankTimeline rank_of(std::vector<Span> spans) {
  RankTimeline rank;
  rank.rows = {{"compute", RowKind::compute},
               {"data", RowKind::communication, Axis::data},
               {"host", RowKind::host},
               {"loader 0", RowKind::loader}};
  rank.spans = std::move(spans);
  return rank;
}

Span compute(double start, double end, std::int32_t blocker = kNoSpan) {
  return {.arrival = start, .start = start, .end = end, .blocker = blocker, .row = kCompute};
}

/// A wait of the host that is launched at `start`.
Span host_wait(double start, double end, std::int32_t blocker) {
  return {.arrival = start,
          .start = start,
          .end = end,
          .blocker = blocker,
          .row = kHost,
          .cause = Cause::launch_gap};
}

Timeline timeline_of(std::vector<RankTimeline> ranks, double end) {
  Timeline timeline;
  timeline.names = {"task"};
  timeline.ranks = std::move(ranks);
  timeline.step_ends = {end};
  return timeline;
}

struct Expected {
  std::uint32_t rank;
  Cause cause;
  double seconds;
};

void check(const Timeline& timeline, const std::vector<Expected>& expected) {
  const std::vector<PathSegment> path = critical_path(timeline, 0);
  REQUIRE(path.size() == expected.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    CAPTURE(i);
    CHECK(path[i].rank == expected[i].rank);
    CHECK(std::string(name_of(path[i].cause)) == name_of(expected[i].cause));
    CHECK(path[i].seconds == doctest::Approx(expected[i].seconds));
  }
}

}  // namespace

TEST_CASE("the path goes through a collective to the rank that came last") {
  const auto reduction = [](double arrival) {
    return Span{.arrival = arrival,
                .start = 5,
                .end = 6,
                .blocker = 0,
                .operation = 7,
                .row = kData,
                .cause = exposed(Axis::data)};
  };
  const Timeline timeline =
      timeline_of({rank_of({compute(0, 2), reduction(2), host_wait(0, 6, 1)}),
                   rank_of({compute(0, 5), reduction(5), host_wait(0, 6, 1)})},
                  6);
  check(timeline, {{1, Cause::forward, 5}, {0, exposed(Axis::data), 1}});
  CHECK(causes_of(critical_path(timeline, 0))[static_cast<std::size_t>(Cause::forward)] == 5);
}

TEST_CASE("a wait for a rank that nobody recorded stays with the rank that waited") {
  const Span reduction{.arrival = 2,
                       .start = 5,
                       .end = 6,
                       .blocker = 0,
                       .operation = 7,
                       .row = kData,
                       .cause = exposed(Axis::data)};
  check(timeline_of({rank_of({compute(0, 2), reduction, host_wait(0, 6, 1)})}, 6),
        {{0, Cause::forward, 2}, {0, Cause::sync_wait, 3}, {0, exposed(Axis::data), 1}});
}

TEST_CASE(
    "a host that waits passes on to what it waited for, one that is late launched until then") {
  // The first wait ends with the loader at 3; the kernel is launched at 4; the second wait comes at
  // 9, when the kernel has long been done.
  const Span load{.arrival = 0, .start = 0, .end = 3, .row = kLoader, .cause = Cause::batch_wait};
  Span kernel = compute(4, 7, 1);
  kernel.arrival = 3;
  check(timeline_of({rank_of({load, host_wait(1, 3, 0), kernel, host_wait(9, 9, 2)})}, 9),
        {{0, Cause::batch_wait, 3}, {0, Cause::launch_gap, 6}});
  check(timeline_of({rank_of({load, host_wait(1, 3, 0), kernel, host_wait(5, 7, 2)})}, 7),
        {{0, Cause::batch_wait, 3}, {0, Cause::launch_gap, 1}, {0, Cause::forward, 3}});
}

TEST_CASE("work on the host is its own: only waits pass on") {
  // A loss on the CPU from 3 to 5, launched when the forward pass was done.
  const Span loss{
      .arrival = 3, .start = 3, .end = 5, .blocker = 0, .row = kHost, .cause = Cause::launch_gap};
  Span backward = compute(5, 9, 1);
  backward.cause = Cause::backward;
  check(timeline_of({rank_of({compute(0, 3), loss, backward, host_wait(5, 9, 2)})}, 9),
        {{0, Cause::forward, 3}, {0, Cause::launch_gap, 2}, {0, Cause::backward, 4}});
}

TEST_CASE("a chain's causes and launch gaps are parts of the path") {
  Span chain = compute(0, 10);
  chain.mix = 0;
  chain.contention = 1;
  Timeline timeline = timeline_of({rank_of({chain, host_wait(0, 10, 0)})}, 10);
  CauseSeconds mix{};
  mix[static_cast<std::size_t>(Cause::recompute)] = 2;
  mix[static_cast<std::size_t>(Cause::backward)] = 4;
  timeline.mixes = {mix};
  check(timeline, {{0, Cause::recompute, 2},
                   {0, Cause::backward, 4},
                   {0, Cause::contention, 1},
                   {0, Cause::launch_gap, 3}});
}
