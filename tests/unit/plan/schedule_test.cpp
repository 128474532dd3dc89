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

/// What passes wait for: a whole backward counts as its first half.
enum class Step { forward, gradient, weights };
Step step_of(const Action& action) {
  if (action.pass == PassKind::forward) return Step::forward;
  return action.pass == PassKind::weight_gradient ? Step::weights : Step::gradient;
}

using Key = std::tuple<Step, int, int>;  // step, micro-batch, part of the model

/// Every schedule on every small shape that it accepts.
void on_all_shapes(const std::function<void(const Schedule&, const PipelineShape&)>& check) {
  for (const Schedule* schedule : Registry<Schedule>::all()) {
    const ScheduleNeeds& needs = schedule->needs;
    for (int p = 1; p <= 6; ++p) {
      for (int m = 1; m <= 18; ++m) {
        for (int v = needs.least_chunks; v <= std::min(needs.most_chunks, 4); ++v) {
          if (v > 1 && p == 1) continue;
          if (needs.objection != nullptr && !needs.objection(p, m).empty()) continue;
          CAPTURE(std::string(schedule->name));
          CAPTURE(p);
          CAPTURE(m);
          CAPTURE(v);
          check(*schedule, {p, m, v});
          const bool pairs =
              needs.joins == Joins::asked || (needs.joins == Joins::one_stage && p == 1);
          if (pairs) check(*schedule, {p, m, v, true});
        }
      }
    }
  }
}

/// What a pass needs from another stage, or itself, before it can run.
bool is_runnable(const Action& action, int part, int parts, const std::set<Key>& done) {
  const auto has = [&](Step step, int of) {
    return done.count({step, action.micro_batch, of}) > 0;
  };
  switch (step_of(action)) {
    case Step::forward:
      return part == 0 || has(Step::forward, part - 1);
    case Step::gradient:
      return has(Step::forward, part) && (part + 1 == parts || has(Step::gradient, part + 1));
    case Step::weights:
      return has(Step::gradient, part);
  }
  return false;
}

/// Runs whatever can run until nothing can; returns the passes that ran.
std::size_t play(const Schedule& schedule, const PipelineShape& shape) {
  const Placement placement(schedule, shape);
  std::vector<std::vector<Action>> orders;
  for (int stage = 0; stage < shape.stages; ++stage) orders.push_back(schedule.order(shape, stage));
  std::vector<std::size_t> next(orders.size(), 0);
  std::set<Key> done;
  std::size_t before = 0;
  do {
    before = done.size();
    for (std::size_t stage = 0; stage < orders.size(); ++stage) {
      const std::vector<Action>& order = orders[stage];
      const auto part = [&](const Action& action) {
        return placement.part({static_cast<int>(stage), action.chunk});
      };
      while (next[stage] < order.size()) {
        // Passes that are joined need the inputs of all, and hand on nothing before.
        std::size_t end = next[stage] + 1;
        while (end < order.size() && order[end].joined) ++end;
        const std::vector<Action> joined(order.begin() + static_cast<std::ptrdiff_t>(next[stage]),
                                         order.begin() + static_cast<std::ptrdiff_t>(end));
        const bool runs = std::all_of(joined.begin(), joined.end(), [&](const Action& action) {
          return is_runnable(action, part(action), placement.parts(), done);
        });
        if (!runs) break;
        for (const Action& action : joined)
          done.insert({step_of(action), action.micro_batch, part(action)});
        next[stage] = end;
      }
    }
  } while (before != done.size());
  return done.size();
}

}  // namespace

TEST_CASE("passes join never, of one stage, or of any number, whether asked or not") {
  for (const int stages : {1, 2}) {
    CHECK_FALSE(can_join(Joins::never, stages));
    CHECK(can_join(Joins::one_stage, stages) == (stages == 1));
    CHECK(can_join(Joins::asked, stages));
    CHECK(can_join(Joins::always, stages));
  }
}

TEST_CASE("every micro-batch passes every chunk forward once and backward once, in that order") {
  on_all_shapes([](const Schedule& schedule, const PipelineShape& shape) {
    for (int stage = 0; stage < shape.stages; ++stage) {
      std::map<std::pair<int, int>, std::vector<PassKind>> passes;
      for (const Action& action : schedule.order(shape, stage))
        passes[{action.micro_batch, action.chunk}].push_back(action.pass);
      REQUIRE(passes.size() ==
              static_cast<std::size_t>(shape.micro_batches * shape.chunks / schedule.needs.copies));
      const std::vector<PassKind> whole{PassKind::forward, PassKind::backward};
      const std::vector<PassKind> split{PassKind::forward, PassKind::input_gradient,
                                        PassKind::weight_gradient};
      for (const auto& [pass, kinds] : passes) {
        REQUIRE((kinds == whole || kinds == split));
        REQUIRE(pass.first < shape.micro_batches);
        REQUIRE(pass.second < shape.chunks);
      }
    }
  });
}

TEST_CASE("the orders of all stages can be played against each other to the end") {
  on_all_shapes([](const Schedule& schedule, const PipelineShape& shape) {
    std::size_t all = 0;
    for (int stage = 0; stage < shape.stages; ++stage) all += schedule.order(shape, stage).size();
    REQUIRE(play(schedule, shape) == all);
  });
}

TEST_CASE("each chunk sees micro-batches in order, in both directions") {
  on_all_shapes([](const Schedule& schedule, const PipelineShape& shape) {
    for (int stage = 0; stage < shape.stages; ++stage) {
      std::map<std::pair<Step, int>, int> next;
      for (const Action& action : schedule.order(shape, stage)) {
        int& least = next[{step_of(action), action.chunk}];
        REQUIRE(action.micro_batch >= least);
        least = action.micro_batch + 1;
      }
    }
  });
}

TEST_CASE("1F1B alternates once it is warm") {
  const auto order = Registry<Schedule>::find("1f1b")->order({4, 8, 1}, 1);
  std::string directions;
  for (const Action& action : order) directions += action.pass == PassKind::forward ? 'F' : 'B';
  CHECK(directions == "FFFBFBFBFBFBFBBB");
}

TEST_CASE(
    "the last stage of an interleaved pipeline starts backward after its last chunk's first") {
  const auto order = Registry<Schedule>::find("interleaved")->order({2, 4, 2}, 1);
  const std::vector<Action> start{{PassKind::forward, 0, 0},
                                  {PassKind::forward, 1, 0},
                                  {PassKind::forward, 0, 1},
                                  {PassKind::backward, 0, 1}};
  CHECK(std::vector<Action>(order.begin(), order.begin() + 4) == start);
}

TEST_CASE("the peak of an order counts passes that are forward and not yet backward") {
  CHECK(peak_in_flight({}) == 0);
  CHECK(peak_in_flight({{PassKind::forward, 0},
                        {PassKind::backward, 0},
                        {PassKind::forward, 1},
                        {PassKind::backward, 1}}) == 1);
  CHECK(peak_in_flight({{PassKind::forward, 0},
                        {PassKind::forward, 1},
                        {PassKind::backward, 0},
                        {PassKind::forward, 2},
                        {PassKind::backward, 1},
                        {PassKind::backward, 2}}) == 2);
}

TEST_CASE("a split pass is in flight until its weight gradients") {
  CHECK(peak_in_flight({{PassKind::forward, 0},
                        {PassKind::input_gradient, 0},
                        {PassKind::forward, 1},
                        {PassKind::weight_gradient, 0}}) == 2);
}

TEST_CASE("schedules are listed in order of their names") {
  const std::vector<std::string> names = Registry<Schedule>::names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (const char* name : {"1f1b", "dualpipe", "gpipe", "interleaved", "interleaved-pytorch",
                           "v-half", "v-min", "zb-h1", "zb-h2", "zb-v"})
    CHECK(std::count(names.begin(), names.end(), name) == 1);
  CHECK(Registry<Schedule>::find("zigzag") == nullptr);
}
