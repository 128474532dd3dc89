// Pipeline schedules: every pass once, backward after forward, and orders that fit together.
#include "sim/plan/schedule.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include <doctest/doctest.h>

#include "sim/core/registry.hpp"

using namespace stepsim;

namespace {

using Key = std::tuple<bool, int, int>;  // forward, micro-batch, part of the model

Key key(const Action& action, int part) { return {action.forward, action.micro_batch, part}; }

/// Every schedule on every small shape that it accepts.
void on_all_shapes(const std::function<void(const Schedule&, const PipelineShape&)>& check) {
  for (const Schedule* schedule : Registry<Schedule>::all()) {
    for (int p = 1; p <= 6; ++p) {
      for (int m = 1; m <= 18; ++m) {
        for (int v = schedule->interleaved ? 2 : 1; v <= (schedule->interleaved ? 4 : 1); ++v) {
          if (schedule->interleaved && (p == 1 || m % p != 0)) continue;
          CAPTURE(std::string(schedule->name));
          CAPTURE(p);
          CAPTURE(m);
          CAPTURE(v);
          check(*schedule, {p, m, v});
        }
      }
    }
  }
}

/// What a pass needs from another stage, or itself, before it can run.
bool is_runnable(const Action& action, int part, int parts, const std::set<Key>& done) {
  if (action.forward) return part == 0 || done.count(key(action, part - 1)) > 0;
  const bool has_forward = done.count({true, action.micro_batch, part}) > 0;
  return has_forward && (part + 1 == parts || done.count(key(action, part + 1)) > 0);
}

/// Runs whatever can run until nothing can; returns the passes that ran.
std::size_t play(const Schedule& schedule, const PipelineShape& shape) {
  std::vector<std::vector<Action>> orders;
  for (int stage = 0; stage < shape.stages; ++stage) orders.push_back(schedule.order(shape, stage));
  std::vector<std::size_t> next(orders.size(), 0);
  std::set<Key> done;
  std::size_t before = 0;
  do {
    before = done.size();
    for (std::size_t stage = 0; stage < orders.size(); ++stage) {
      for (; next[stage] < orders[stage].size(); ++next[stage]) {
        const Action& action = orders[stage][next[stage]];
        const int part = action.chunk * shape.stages + static_cast<int>(stage);
        if (!is_runnable(action, part, shape.stages * shape.chunks, done)) break;
        done.insert(key(action, part));
      }
    }
  } while (before != done.size());
  return done.size();
}

}  // namespace

TEST_CASE("every micro-batch passes every chunk forward once and backward once, in that order") {
  on_all_shapes([](const Schedule& schedule, const PipelineShape& shape) {
    for (int stage = 0; stage < shape.stages; ++stage) {
      std::map<std::pair<int, int>, int> passes;  // 1: forward seen, 2: both
      for (const Action& action : schedule.order(shape, stage)) {
        int& seen = passes[{action.micro_batch, action.chunk}];
        REQUIRE(seen == (action.forward ? 0 : 1));
        ++seen;
      }
      REQUIRE(passes.size() == static_cast<std::size_t>(shape.micro_batches * shape.chunks));
      for (const auto& [pass, seen] : passes) {
        REQUIRE(seen == 2);
        REQUIRE(pass.first < shape.micro_batches);
        REQUIRE(pass.second < shape.chunks);
      }
    }
  });
}

TEST_CASE("the orders of all stages can be played against each other to the end") {
  on_all_shapes([](const Schedule& schedule, const PipelineShape& shape) {
    const auto all =
        static_cast<std::size_t>(2 * shape.stages * shape.chunks * shape.micro_batches);
    REQUIRE(play(schedule, shape) == all);
  });
}

TEST_CASE("each chunk sees micro-batches in order, in both directions") {
  on_all_shapes([](const Schedule& schedule, const PipelineShape& shape) {
    for (int stage = 0; stage < shape.stages; ++stage) {
      std::map<std::pair<bool, int>, int> next;
      for (const Action& action : schedule.order(shape, stage)) {
        REQUIRE(action.micro_batch == (next[{action.forward, action.chunk}]++));
      }
    }
  });
}

TEST_CASE("1F1B alternates once it is warm") {
  const auto order = Registry<Schedule>::find("1f1b")->order({4, 8, 1}, 1);
  std::string directions;
  for (const Action& action : order) directions += action.forward ? 'F' : 'B';
  CHECK(directions == "FFFBFBFBFBFBFBBB");
}

TEST_CASE(
    "the last stage of an interleaved pipeline starts backward after its last chunk's first") {
  const auto order = Registry<Schedule>::find("interleaved")->order({2, 4, 2}, 1);
  const std::vector<Action> start{{true, 0, 0}, {true, 1, 0}, {true, 0, 1}, {false, 0, 1}};
  CHECK(std::vector<Action>(order.begin(), order.begin() + 4) == start);
}

TEST_CASE("the peak of an order counts passes that are forward and not yet backward") {
  CHECK(peak_in_flight({}) == 0);
  CHECK(peak_in_flight({{true, 0}, {false, 0}, {true, 1}, {false, 1}}) == 1);
  CHECK(peak_in_flight({{true, 0}, {true, 1}, {false, 0}, {true, 2}, {false, 1}, {false, 2}}) == 2);
}

TEST_CASE("schedules are listed in order of their names") {
  const std::vector<std::string> names = Registry<Schedule>::names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (const char* name : {"1f1b", "gpipe", "interleaved"})
    CHECK(std::count(names.begin(), names.end(), name) == 1);
  CHECK(Registry<Schedule>::find("zigzag") == nullptr);
}
