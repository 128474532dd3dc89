// The partition of a rank's time into causes, busy time and overlap, on timelines small enough to
// draw.
#include "sim/timeline/partition.hpp"

#include <numeric>
#include <random>

#include <doctest/doctest.h>

#include "sim/timeline/busy.hpp"
#include "sim/timeline/overlap.hpp"

using namespace stepsim;

namespace {

constexpr double kRounding = 1e-12;

enum RowIndex : std::uint16_t { kCompute, kData, kTensor, kPipeline, kHost, kLoader };

/// A timeline of one rank with six rows, and spans that are added in order of their end.
struct OneRank {
  Timeline timeline;
  RankTimeline rank;

  OneRank() {
    rank.rows = {{"compute", RowKind::compute},
                 {"data", RowKind::communication, Axis::data},
                 {"tensor", RowKind::communication, Axis::tensor},
                 {"pipeline", RowKind::communication, Axis::pipeline},
                 {"host", RowKind::host},
                 {"loader 0", RowKind::loader}};
  }

  std::int32_t add(Span span) {
    if (span.arrival == 0) span.arrival = span.start;
    rank.spans.push_back(span);
    return static_cast<std::int32_t>(rank.spans.size()) - 1;
  }
  std::int32_t compute(double start, double end, std::int32_t blocker = kNoSpan) {
    return add({.start = start, .end = end, .blocker = blocker, .row = kCompute});
  }
  CauseSeconds split(double from, double to) const { return partition(timeline, rank, from, to); }
};

double of(const CauseSeconds& seconds, Cause cause) {
  return seconds[static_cast<std::size_t>(cause)];
}
double sum(const CauseSeconds& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

/// Checks that the waits of a window follow each other, leave its compute spans free, and have with
/// their work the seconds of its partition.
void check_waits(const OneRank& one, double from, double to) {
  CauseSeconds seconds{};
  double until = from;
  for (const Wait& wait : waits_of(one.timeline, one.rank, from, to)) {
    CHECK(wait.start >= until - kRounding);
    CHECK(wait.end > wait.start);
    until = wait.end;
    seconds[static_cast<std::size_t>(wait.cause)] += wait.end - wait.start;
  }
  CHECK(until <= to + kRounding);
  for (const Span& span : one.rank.spans) {
    const double part = std::min(span.end, to) - std::max(span.start, from);
    if (span.row != kCompute || part <= 0) continue;
    const CauseSeconds work = work_of(one.timeline, span);
    for (std::size_t i = 0; i < kCauses; ++i)
      seconds[i] += work[i] * part / (span.end - span.start);
  }
  const CauseSeconds all = one.split(from, to);
  for (std::size_t i = 0; i < kCauses; ++i) CHECK(std::abs(seconds[i] - all[i]) < 1e-9);
}

/// Checks that the partition is exactly the stated causes, and that they sum to the window.
void check(const OneRank& one, double from, double to,
           const std::vector<std::pair<Cause, double>>& expected) {
  const CauseSeconds actual = one.split(from, to);
  CauseSeconds wanted{};
  for (const auto& [cause, seconds] : expected) wanted[static_cast<std::size_t>(cause)] = seconds;
  for (std::size_t i = 0; i < kCauses; ++i) {
    CAPTURE(name_of(static_cast<Cause>(i)));
    CHECK(actual[i] == doctest::Approx(wanted[i]).epsilon(kRounding));
  }
  CHECK(std::abs(sum(actual) - (to - from)) < kRounding);
  check_waits(one, from, to);
}

}  // namespace

TEST_CASE("every cause has a name that JSON keys can use and a title for people") {
  CHECK(std::string(name_of(Cause::forward)) == "forward");
  CHECK(std::string(name_of(exposed(Axis::tensor))) == "exposed_tensor");
  CHECK(std::string(name_of(Cause::launch_gap)) == "launch_gap");
  CHECK(std::string(title_of(exposed(Axis::tensor))) == "exposed tensor-parallel communication");
  for (std::size_t i = 0; i < kCauses; ++i) {
    CHECK_FALSE(std::string(title_of(static_cast<Cause>(i))).empty());
  }
}

TEST_CASE("compute back to back is only compute") {
  OneRank one;
  one.add({.start = 0, .end = 2, .row = kCompute, .cause = Cause::forward});
  one.add({.start = 2, .end = 6, .row = kCompute, .cause = Cause::backward});
  one.add({.start = 6, .end = 7, .row = kCompute, .cause = Cause::optimizer});
  check(one, 0, 7, {{Cause::forward, 2}, {Cause::backward, 4}, {Cause::optimizer, 1}});
}

TEST_CASE("a mix shares its span among causes and the rest of it is launch gaps") {
  OneRank one;
  CauseSeconds mix{};
  mix[static_cast<std::size_t>(Cause::forward)] = 3;
  mix[static_cast<std::size_t>(exposed(Axis::tensor))] = 1;
  one.timeline.mixes = {mix};
  one.add({.start = 0, .end = 5, .mix = 0, .row = kCompute});
  check(one, 0, 5, {{Cause::forward, 3}, {exposed(Axis::tensor), 1}, {Cause::launch_gap, 1}});

  // A window that holds a fifth of the span holds a fifth of each part.
  check(one, 2, 3, {{Cause::forward, 0.6}, {exposed(Axis::tensor), 0.2}, {Cause::launch_gap, 0.2}});
}

TEST_CASE("a mix of zero length names nothing") {
  OneRank one;
  one.timeline.mixes = {CauseSeconds{}};
  one.add({.start = 1, .end = 1, .mix = 0, .row = kCompute});
  one.compute(1, 2);
  check(one, 0, 2, {{Cause::launch_gap, 1}, {Cause::forward, 1}});
}

TEST_CASE("an all-reduce is exposed for the part that compute does not hide") {
  OneRank one;
  one.add({.start = 0, .end = 4, .row = kCompute, .cause = Cause::backward});
  const auto reduce = one.add({.start = 2, .end = 6, .row = kData, .cause = exposed(Axis::data)});
  one.add({.start = 6, .end = 7, .blocker = reduce, .row = kCompute, .cause = Cause::optimizer});
  check(one, 0, 7, {{Cause::backward, 4}, {exposed(Axis::data), 2}, {Cause::optimizer, 1}});
}

TEST_CASE("a launch after the blocker's end is a launch gap") {
  OneRank one;
  one.add({.start = 0, .end = 4, .row = kCompute, .cause = Cause::backward});
  const auto reduce = one.add({.start = 2, .end = 6, .row = kData, .cause = exposed(Axis::data)});
  one.add({.start = 6.5, .end = 7, .blocker = reduce, .row = kCompute, .cause = Cause::optimizer});
  check(one, 0, 7,
        {{Cause::backward, 4},
         {exposed(Axis::data), 2},
         {Cause::launch_gap, 0.5},
         {Cause::optimizer, 0.5}});
}

TEST_CASE("a receive that waits for its sender is a bubble, then a transfer") {
  OneRank one;
  one.compute(0, 1);
  const auto receive = one.add({.arrival = 1,
                                .start = 3,
                                .end = 4,
                                .message = 7,
                                .row = kPipeline,
                                .cause = exposed(Axis::pipeline),
                                .wait_cause = Cause::pipeline_bubble});
  one.compute(4, 5, receive);
  check(one, 0, 5,
        {{Cause::forward, 2}, {Cause::pipeline_bubble, 2}, {exposed(Axis::pipeline), 1}});
}

TEST_CASE("two queued all-reduces answer one after the other, and a third row before them") {
  // compute  [0 - 1]                            ends in the middle of the tensor row's span
  // tensor     [0.5 - 2]
  // data              [2 wait 3][3 - 5]         joined late by another rank
  // data                               [5 - 8]  queued behind the first: arrival 5
  OneRank one;
  one.add({.start = 0, .end = 1, .row = kCompute, .cause = Cause::backward});
  const auto tensor =
      one.add({.start = 0.5, .end = 2, .row = kTensor, .cause = exposed(Axis::tensor)});
  const auto first = one.add({.arrival = 2,
                              .start = 3,
                              .end = 5,
                              .blocker = tensor,
                              .row = kData,
                              .cause = exposed(Axis::data),
                              .wait_cause = Cause::sync_wait});
  const auto second = one.add({.arrival = 5,
                               .start = 5,
                               .end = 8,
                               .blocker = first,
                               .row = kData,
                               .cause = exposed(Axis::data)});
  one.add({.start = 8, .end = 9, .blocker = second, .row = kCompute, .cause = Cause::optimizer});
  check(one, 0, 9,
        {{Cause::backward, 1},
         {exposed(Axis::tensor), 1},
         {Cause::sync_wait, 1},
         {exposed(Axis::data), 5},
         {Cause::optimizer, 1}});
}

TEST_CASE("a chain that ends at a compute span leaves a launch gap before it") {
  OneRank one;
  const auto producer = one.compute(0, 1);
  const auto reduce = one.add({.arrival = 1.25,
                               .start = 1.25,
                               .end = 2,
                               .blocker = producer,
                               .row = kTensor,
                               .cause = exposed(Axis::tensor)});
  one.compute(2, 3, reduce);
  check(one, 0, 3, {{Cause::forward, 2}, {Cause::launch_gap, 0.25}, {exposed(Axis::tensor), 0.75}});
}

TEST_CASE("a late batch is a batch wait") {
  OneRank one;
  const auto load = one.add({.start = 0, .end = 3, .row = kLoader, .cause = Cause::batch_wait});
  const auto take = one.add(
      {.arrival = 3, .start = 3, .end = 3.5, .blocker = load, .row = kHost, .cause = Cause::h2d});
  one.compute(3.5, 4, take);
  check(one, 1, 4, {{Cause::batch_wait, 2}, {Cause::h2d, 0.5}, {Cause::forward, 0.5}});
}

TEST_CASE("the window cuts spans, gaps and blockers") {
  OneRank one;
  one.compute(0, 2);
  const auto reduce = one.add({.arrival = 2,
                               .start = 3,
                               .end = 5,
                               .row = kData,
                               .cause = exposed(Axis::data),
                               .wait_cause = Cause::sync_wait});
  one.compute(5, 8, reduce);
  check(one, 1, 6, {{Cause::forward, 2}, {Cause::sync_wait, 1}, {exposed(Axis::data), 2}});
  check(one, 2.5, 5.5, {{Cause::sync_wait, 0.5}, {exposed(Axis::data), 2}, {Cause::forward, 0.5}});
  check(one, 6, 7, {{Cause::forward, 1}});
  check(one, 2, 2, {});
}

TEST_CASE(
    "after its last compute span a rank waits for the others: a bubble where there are stages") {
  OneRank one;
  one.compute(0, 2);
  check(one, 0, 5, {{Cause::forward, 2}, {Cause::sync_wait, 3}});
  one.timeline.ranks.resize(2);
  one.timeline.ranks.back().stage = 1;
  check(one, 0, 5, {{Cause::forward, 2}, {Cause::pipeline_bubble, 3}});
}

TEST_CASE("a window without compute is a wait for the others") {
  OneRank one;
  check(one, 1, 4, {{Cause::sync_wait, 3}});
  one.compute(9, 10);
  check(one, 1, 4, {{Cause::sync_wait, 3}});
}

TEST_CASE("what the host does after the last compute span has its own name, in stages too") {
  OneRank one;
  const auto last = one.compute(0, 2);
  const auto wait =
      one.add({.start = 0, .end = 2, .blocker = last, .row = kHost, .cause = Cause::launch_gap});
  const auto loss = one.add({.arrival = 2,
                             .start = 2,
                             .end = 4,
                             .blocker = wait,
                             .row = kHost,
                             .cause = Cause::cpu_work});
  one.add({.arrival = 4,
           .start = 4,
           .end = 4,
           .blocker = loss,
           .row = kHost,
           .cause = Cause::launch_gap});
  check(one, 0, 4, {{Cause::forward, 2}, {Cause::cpu_work, 2}});
  check(one, 0, 5, {{Cause::forward, 2}, {Cause::cpu_work, 2}, {Cause::sync_wait, 1}});
  one.timeline.ranks.resize(2);
  one.timeline.ranks.back().stage = 1;
  check(one, 0, 5, {{Cause::forward, 2}, {Cause::cpu_work, 2}, {Cause::pipeline_bubble, 1}});
}

TEST_CASE("a step that ends with an all-gather is exposed communication, not a bubble") {
  OneRank one;
  one.add({.start = 0, .end = 2, .row = kCompute, .cause = Cause::optimizer});
  one.add({.arrival = 2, .start = 2.5, .end = 4, .row = kData, .cause = exposed(Axis::data)});
  check(one, 0, 4, {{Cause::optimizer, 2}, {Cause::sync_wait, 0.5}, {exposed(Axis::data), 1.5}});
  check(one, 0, 5, {{Cause::optimizer, 2}, {Cause::sync_wait, 1.5}, {exposed(Axis::data), 1.5}});
}

TEST_CASE("a send that is still in flight does not hold its sender up") {
  OneRank one;
  one.compute(0, 2);
  one.add({.start = 2,
           .end = 3,
           .message = 1,
           .row = kPipeline,
           .cause = exposed(Axis::pipeline),
           .sends = true});
  check(one, 0, 4, {{Cause::forward, 2}, {Cause::sync_wait, 2}});
}

TEST_CASE("windows side by side sum to the whole on any timeline") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> length(0, 1e-3);
  OneRank one;
  CauseSeconds mix{};
  mix[static_cast<std::size_t>(Cause::backward)] = 1e-5;
  one.timeline.mixes = {mix};
  double now = 0;
  std::int32_t blocker = kNoSpan;
  for (int i = 0; i < 5000; ++i) {
    const double arrival = now + length(random);
    const double start = arrival + length(random);
    const double end = start + length(random);
    if (i % 2 == 0) {
      one.add({.arrival = start,
               .start = start,
               .end = end + 1e-5,
               .blocker = blocker,
               .mix = i % 4 == 0 ? 0 : -1,
               .row = kCompute});
      now = end + 1e-5;
    } else {
      blocker = one.add({.arrival = arrival,
                         .start = start,
                         .end = end,
                         .blocker = blocker,
                         .row = kData,
                         .cause = exposed(Axis::data)});
      now = i % 3 == 0 ? end : arrival;
      if (now == arrival) one.rank.spans.back().end = one.rank.spans.back().start = arrival;
    }
  }
  const CauseSeconds whole = one.split(0, now);
  CHECK(std::abs(sum(whole) - now) < 1e-11);
  CauseSeconds parts{};
  for (int k = 0; k < 100; ++k) {
    const double from = now * k / 100;
    const double to = now * (k + 1) / 100;
    const CauseSeconds part = one.split(from, to);
    CHECK(std::abs(sum(part) - (to - from)) < kRounding);
    for (const double seconds : part) CHECK(seconds >= 0);
    for (std::size_t i = 0; i < kCauses; ++i) parts[i] += part[i];
  }
  CHECK(of(parts, Cause::forward) == doctest::Approx(of(whole, Cause::forward)));
  CHECK(of(parts, Cause::backward) == doctest::Approx(of(whole, Cause::backward)));
}

TEST_CASE("busy time is the union of the spans of one group") {
  OneRank one;
  one.add({.start = 1, .end = 2, .row = kData});
  one.add({.start = 3, .end = 5, .row = kData});
  one.add({.start = 0, .end = 5.5, .row = kTensor});
  one.add({.start = 4, .end = 6, .row = kData});
  one.add({.start = 8, .end = 9, .row = kCompute});
  CHECK(busy(one.rank, Axis::data, 0, 10) == doctest::Approx(4));
  CHECK(busy(one.rank, Axis::data, 1.5, 4.5) == doctest::Approx(2));
  CHECK(busy(one.rank, Axis::data, 6, 10) == 0);
  CHECK(busy(one.rank, Axis::tensor, 0, 10) == doctest::Approx(5.5));
  CHECK(busy(one.rank, Axis::expert, 0, 10) == 0);
}

TEST_CASE("15 ms of compute and 20 ms of communication in 24 ms overlap by 73.3 %") {
  const double hidden = 15e-3 + 20e-3 - 24e-3;
  CHECK(overlap_efficiency(15e-3, 20e-3, hidden) == doctest::Approx(11.0 / 15.0));
  CHECK(overlap_efficiency(20e-3, 15e-3, 15e-3) == doctest::Approx(1));
  CHECK(overlap_efficiency(0, 20e-3, 0) == 0);
  CHECK(overlap_efficiency(15e-3, 0, 0) == 0);
}
