// What `run` says to change first makes the step shorter, in every scenario of the repository that
// fits in memory, and makes those fit that do not.
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/command/answer/answer.hpp"
#include "sim/command/answer/counterfactuals.hpp"
#include "sim/core/error.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/process/forked.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

/// A scenario of one replica and no long run, because what comes next is about the step.
ScenarioArgument argument_of(const std::filesystem::path& file) {
  return {file.string(), {"run.replicas=1", "run.horizon=null", "reliability=null", "expect=null"}};
}

/// The settings "a=1" and "b=2" of "--set a=1 --set b=2: 433 ms (-46.5 %)".
std::vector<std::string> settings_in(const std::string& next) {
  std::vector<std::string> settings;
  std::istringstream words(next);
  for (std::string word; words >> word;) {
    if (word != "--set") continue;
    words >> word;
    if (word.back() == ':') word.pop_back();
    settings.push_back(word);
  }
  return settings;
}

/// The step as it is, and as it is with what comes next, and whether each of them fits; nothing
/// where a fault comes first, or no setting helps.
std::string both_steps(const std::filesystem::path& file) {
  const ScenarioArgument argument = argument_of(file);
  const Library library = library_for(argument.path);
  std::ostringstream notes;
  const Answer answer = answer_of(
      load(argument, library), library,
      {.jobs = 1, .reread = [&](const auto& s) { return load(argument, s, library); }}, notes);
  const Verdict& verdict = answer.metrics.verdict;
  if (verdict.is_fault) return "";
  const std::vector<std::string> settings = settings_in(verdict.next);
  if (settings.empty() != verdict.next.starts_with("none of"))
    throw InternalError("Next: " + verdict.next);
  if (settings.empty()) return "";
  const Scenario changed = load(argument, settings, library);
  const OpGraph graph = build(changed);
  const Memory memory{memory_by_stage(changed, graph), changed.cluster.gpu.memory, Seconds{}};
  return text_of({answer.metrics.step_time.seconds(), step_of(make_plan(changed, graph)).seconds(),
                  answer.metrics.memory.fits() ? 1.0 : 0.0, memory.fits() ? 1.0 : 0.0});
}

}  // namespace

TEST_CASE("following Next never makes a step slower, unless it is to make it fit") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(source_folder()) / "scenarios")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  REQUIRE(files.size() > 10);
  const auto answers = run_forked(static_cast<int>(files.size()), 2, [&](int index) {
    return both_steps(files[static_cast<std::size_t>(index)]);
  });
  int followed = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    CAPTURE(files[i]);
    REQUIRE(answers[i]);
    const std::vector<double> steps = numbers_of(*answers[i]);
    if (steps.empty()) continue;
    CHECK(steps[3] == 1);
    if (steps[2] == 0) continue;
    CHECK(steps[1] <= steps[0]);
    if (steps[1] < steps[0]) ++followed;
  }
  CHECK(followed > 10);
}
