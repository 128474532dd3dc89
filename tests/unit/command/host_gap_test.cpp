// Three steps of 500 ms with a gap of 120 ms each, made by a loss on the CPU, a recompilation and a
// loader: the diagnosis tells them apart, the gap has its price, and the row that made it is seen.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include "sim/command/answer/what_if.hpp"
#include "sim/plan/load.hpp"
#include "sim/report/measure/cost.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

Scenario shipped(const std::string& name, const std::vector<std::string>& settings = {}) {
  std::ifstream in(std::string(source_folder()) + "/scenarios/" + name);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
  return parse_scenario(text, name, Library{{source_folder()}}, overrides, known_names());
}

Explanation explained(const std::string& name) {
  return explain(shipped(name), [&](const auto& settings) { return shipped(name, settings); });
}

const Symptom* find(const Explanation& e, const std::string& name) {
  const auto found = std::find_if(e.symptoms.begin(), e.symptoms.end(),
                                  [&](const Symptom& symptom) { return symptom.name == name; });
  return found == e.symptoms.end() ? nullptr : &*found;
}

struct Gap {
  const char* scenario;
  const char* symptom;
  const char* suspect;
  Cause cause;
  RowKind row;       ///< that is busy in the gap
  const char* task;  ///< with this
  const char* next;  ///< the best of all settings
};

constexpr Gap kGaps[] = {
    {"cpu-loss-8xh100.yaml", "loss_gap", "a loss or metrics on the CPU", Cause::cpu_work,
     RowKind::host, "loss weights", "host.cpu_work=[]"},
    {"recompilation-8xh100.yaml", "loss_gap", "a recompilation", Cause::recompilation,
     RowKind::host, "recompile backward", "host.recompilation=null"},
    {"loader-gap-8xh100.yaml", "late_start", "the input pipeline", Cause::batch_wait,
     RowKind::loader, "decode", "data.workers="},
};

/// The longest stretch of the last step in which the compute row is idle.
std::pair<double, double> longest_gap(const RankTimeline& rank, const Timeline& timeline) {
  const double from = timeline.step_start(timeline.step_ends.size() - 1);
  std::pair<double, double> longest{from, from};
  double idle_from = from;
  for (const Span& span : rank.spans) {
    if (rank.rows[span.row].kind != RowKind::compute || span.end <= from) continue;
    if (span.start - idle_from > longest.second - longest.first) longest = {idle_from, span.start};
    idle_from = std::max(idle_from, span.end);
  }
  return longest;
}

}  // namespace

TEST_CASE("three gaps of 120 ms are told apart, and each costs 2,764.80 $ a month") {
  for (const Gap& gap : kGaps) {
    CAPTURE(gap.scenario);
    const Explanation e = explained(gap.scenario);
    const Metrics& m = e.metrics;
    CHECK(std::lround(m.step_time.milliseconds() * 10) == 5000);
    CHECK(m.breakdown[static_cast<std::size_t>(gap.cause)] == doctest::Approx(0.120).epsilon(1e-3));
    const Symptom* symptom = find(e, gap.symptom);
    REQUIRE(symptom != nullptr);
    CHECK(symptom->suspect == gap.suspect);
    CHECK(symptom->evidence == "120 ms a step, 24.0 %");
    // 24 % of 720 hours of eight GPUs at 2 $ each.
    REQUIRE(m.cost.has_value());
    CHECK(dollars(m.cost->month_of(symptom->seconds / m.step_time)) == "2,764.80 $");
    CHECK((find(e, "starvation") != nullptr) == (gap.cause == Cause::batch_wait));
    CHECK(e.verdict.next.find(gap.next) != std::string::npos);
  }
}

TEST_CASE("the gap is on the compute row of the trace, and beside it what made it") {
  for (const Gap& gap : kGaps) {
    CAPTURE(gap.scenario);
    const Experiment experiment(shipped(gap.scenario));
    const Simulation run = experiment.run();
    const RankTimeline& rank = run.timeline.ranks.front();
    const auto [from, to] = longest_gap(rank, run.timeline);
    CHECK(to - from == doctest::Approx(0.120).epsilon(1e-3));
    double busy = 0;
    for (const Span& span : rank.spans) {
      if (rank.rows[span.row].kind != gap.row || run.timeline.names[span.name] != gap.task)
        continue;
      busy += std::max(0.0, std::min(span.end, to) - std::max(span.start, from));
    }
    CHECK(busy == doctest::Approx(0.120).epsilon(1e-3));
  }
}

TEST_CASE("garbage collection is named where it makes steps longer, or the GPU idle") {
  const auto symptoms = [](const char* collection) {
    const Experiment e(
        shipped("cpu-loss-8xh100.yaml",
                {"host.cpu_work=[]", std::string("host.garbage_collection=") + collection}));
    const Simulation run = e.run();
    Explanation found;
    found.symptoms = symptoms_of(run.timeline, measure(e.scenario, e.graph, run));
    return found;
  };
  const Explanation each = symptoms("{pause: 50 ms}");
  REQUIRE(find(each, "busy_host") != nullptr);
  CHECK(find(each, "busy_host")->suspect == "Python's garbage collection");
  CHECK(find(each, "loss_gap") == nullptr);
  const Explanation some = symptoms("{pause: 200 ms, every: 5}");
  REQUIRE(find(some, "spikes") != nullptr);
  CHECK(find(some, "spikes")->suspect == "Python's garbage collection");
}
