// Verdicts on made-up results: that without which the step would be shortest.
#include "sim/report/measure/verdict.hpp"

#include <doctest/doctest.h>

#include "sim/report/measure/explain.hpp"
#include "tests/unit/report/sample_metrics.hpp"

using namespace stepsim;

namespace {

Limit limit(std::string_view name, std::string_view waits, std::string_view world, Cause cause) {
  return {.name = name,
          .bound = name,
          .waits = waits,
          .world = world,
          .causes = {cause},
          .applies = nullptr,
          .plan = nullptr,
          .proposals = {"overlap", "micro-batches"}};
}

const Limit kNetwork =
    limit("network-bound", "for the network", "with a free network", exposed(Axis::tensor));
const Limit kBubble =
    limit("bubble-bound", "for other stages", "without a bubble", Cause::pipeline_bubble);
const Limit kInput = limit("data-bound", "for input", "with a free loader", Cause::batch_wait);

/// A step of 10 s on one stage.
Metrics result(const std::vector<std::pair<Cause, double>>& breakdown,
               const std::vector<std::pair<Cause, double>>& critical) {
  Metrics m = sample_metrics();
  m.step_time = Seconds{10};
  m.memory.stages.resize(1);
  m.breakdown = m.critical = {};
  for (const auto& [cause, seconds] : breakdown)
    m.breakdown[static_cast<std::size_t>(cause)] = seconds;
  for (const auto& [cause, seconds] : critical)
    m.critical[static_cast<std::size_t>(cause)] = seconds;
  return m;
}

}  // namespace

TEST_CASE("a step of compute is compute-bound, whatever else would save a little") {
  const auto parts = std::vector{std::pair{Cause::backward, 9.4}, {exposed(Axis::tensor), 0.6}};
  const Metrics m = result(parts, parts);
  const Verdict v = verdict(m, {{&kNetwork, Seconds{9.4}}, {&kInput, Seconds{10}}}, Seconds{0.6});
  CHECK(v.sentence ==
        "compute-bound: the GPUs compute 94 % of the step; with a free network it would take "
        "9.40 s (-6 %)");
  CHECK(v.next.empty());
  CHECK(v.limit.empty());
  CHECK(verdict(m, {{&kInput, Seconds{10}}}, Seconds{0.6}).sentence ==
        "compute-bound: the GPUs compute 94 % of the step");
}

TEST_CASE("a loader that sets the pace is to blame, though the GPUs wait for a third of the step") {
  const Metrics m = result({{Cause::backward, 6.5}, {Cause::batch_wait, 3.5}},
                           {{Cause::backward, 1}, {Cause::batch_wait, 9}});
  CHECK(verdict(m, {{&kInput, Seconds{6.5}}, {&kNetwork, Seconds{10}}}, Seconds{9}).sentence ==
        "data-bound: the GPUs wait 35 % of the step for input; with a free loader it would take "
        "6.50 s (-35 %)");
}

TEST_CASE(
    "GPUs that compute for most of a step do not bind it where faster ones would gain nothing") {
  const auto parts = std::vector{std::pair{Cause::backward, 7.4}, {Cause::batch_wait, 2.6}};
  const Metrics m = result(parts, parts);
  const Verdict v = verdict(m, {{&kInput, Seconds{7.4}}, {&kNetwork, Seconds{10}}}, Seconds{10});
  CHECK(v.sentence ==
        "data-bound: the GPUs wait 26 % of the step for input; with a free loader it would take "
        "7.40 s (-26 %)");
  CHECK(v.limit == "data-bound");
}

TEST_CASE("a limit that saves less than a twentieth of a step does not bind it") {
  const auto parts = std::vector{std::pair{Cause::backward, 9.7}, {Cause::batch_wait, 0.3}};
  CHECK(verdict(result(parts, parts), {{&kInput, Seconds{9.7}}}, Seconds{10})
            .sentence.starts_with("compute-bound: the GPUs compute 97 % of the step; with a free "
                                  "loader"));
}

TEST_CASE("other stages' work on the critical path is a bubble, not compute") {
  Metrics m = result({{Cause::backward, 3}, {Cause::pipeline_bubble, 7}}, {{Cause::backward, 10}});
  CHECK(verdict(m, {{&kBubble, Seconds{3}}}, Seconds{0}).sentence ==
        "bubble-bound: the GPUs wait 70 % of the step for other stages; without a bubble it would "
        "take 3.00 s (-70 %)");
  m = result({{Cause::backward, 8}, {Cause::pipeline_bubble, 2}}, {{Cause::backward, 10}});
  CHECK(verdict(m, {{&kBubble, Seconds{8}}}, Seconds{0})
            .sentence.starts_with("compute-bound: the GPUs compute "
                                  "80 % of the step"));
}

TEST_CASE("hosts that stop for a quarter of the path are to blame, whichever rank they stop") {
  const Limit collector =
      limit("collector-bound", "for a collector", "without it", Cause::garbage_collection);
  const auto breakdown = std::vector{
      std::pair{Cause::backward, 6.5}, {Cause::sync_wait, 3.1}, {Cause::garbage_collection, 0.4}};
  Metrics m = result(breakdown, {{Cause::backward, 6.5}, {Cause::garbage_collection, 3.5}});
  CHECK(verdict(m, {{&collector, Seconds{6.5}}, {&kNetwork, Seconds{10}}}, Seconds{3.5}).sentence ==
        "collector-bound: the GPUs wait 35 % of the step for a collector; without it it would take "
        "6.50 s (-35 %)");
  m = result(breakdown, {{Cause::backward, 7.6}, {Cause::garbage_collection, 2.4}});
  CHECK(
      verdict(m, {{&collector, Seconds{7.6}}}, Seconds{2.4}).sentence.starts_with("compute-bound"));
}

TEST_CASE("settings about the GPUs' own work come first where recompute costs more than a limit") {
  auto parts = std::vector{
      std::pair{Cause::backward, 6.0}, {Cause::recompute, 3.0}, {exposed(Axis::tensor), 1.0}};
  using Families = std::vector<std::string_view>;
  CHECK(
      promising(result(parts, parts), {{&kNetwork, Seconds{9}}}) ==
      Families{"recompute", "attention", "micro-batches", "vocabulary", "convolutions", "overlap"});
  parts = std::vector{std::pair{Cause::backward, 9.0}, {exposed(Axis::tensor), 1.0}};
  CHECK(
      promising(result(parts, parts), {{&kNetwork, Seconds{9}}}) ==
      Families{"overlap", "micro-batches", "recompute", "attention", "vocabulary", "convolutions"});
  CHECK(promising(result(parts, parts), {{&kNetwork, Seconds{10}}}).size() == 5);
}

TEST_CASE("what does not fit is tried with splits and settings that make room first") {
  Metrics m = result({{Cause::backward, 10.0}}, {{Cause::backward, 10.0}});
  m.memory.capacity = Bytes{1};
  const auto families = promising(m, {});
  REQUIRE(families.size() > 2);
  CHECK(families[0] == "split");
  CHECK(families[1] == "experts");
  CHECK(families[2] == "memory");
}

TEST_CASE("a slower setting that fits is better than a step that cannot run") {
  Metrics m = result({{Cause::backward, 10.0}}, {{Cause::backward, 10.0}});
  const std::vector<ChangeOutcome> changes = {{.kind = ChangeKind::setting,
                                               .title = "a",
                                               .settings = {"a=1"},
                                               .step = Seconds{9},
                                               .peak = Bytes{90 * 0x1p30},
                                               .fits = false},
                                              {.kind = ChangeKind::setting,
                                               .title = "b",
                                               .settings = {"b=1"},
                                               .step = Seconds{11},
                                               .peak = Bytes{40 * 0x1p30},
                                               .fits = true}};
  CHECK(best_setting(m, changes) == nullptr);
  m.memory.capacity = Bytes{50 * 0x1p30};
  const ChangeOutcome* best = best_setting(m, changes);
  REQUIRE(best == &changes[1]);
  CHECK(next_setting(m, *best) == "--set b=1: 11.0 s (+10.0 %), and it fits: 40.0 GiB of 50.0 GiB");
}

TEST_CASE("the next setting warns where it fills the memory") {
  Metrics m = result({{Cause::backward, 10.0}}, {{Cause::backward, 10.0}});
  ChangeOutcome change{.kind = ChangeKind::setting,
                       .title = "a",
                       .settings = {"a=1"},
                       .step = Seconds{9},
                       .peak = Bytes{74 * 0x1p30}};
  CHECK(next_setting(m, change) == "--set a=1: 9.00 s (-10.0 %)");
  change.peak = Bytes{78 * 0x1p30};
  CHECK(next_setting(m, change) ==
        "--set a=1: 9.00 s (-10.0 %); it fills 98 % of the memory: two of 27 measured runs at 93 % "
        "and more took about 30 % longer than predicted (validate/DEVIATIONS.md)");
  m.memory.capacity = Bytes{76 * 0x1p30};
  CHECK(next_setting(m, change).find("it fills 103 % of the memory") != std::string::npos);
}
