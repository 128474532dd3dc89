// Reads ranges of steps and ranks.
#include "sim/command/trace_choice.hpp"

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/ranges.hpp"

namespace stepsim {
namespace {

std::vector<int> numbers_of(const char* option, const std::string& text, const char* example) {
  const auto numbers = numbers_of_ranges(text);
  if (!numbers || numbers->empty())
    throw UserError(fmt::format("{}: {} is no range of whole numbers, write it as {}", option,
                                quoted(text), example));
  return *numbers;
}

StepRange steps_of(const std::string& text, const Scenario& scenario) {
  const std::vector<int> steps = numbers_of("--trace-steps", text, "3 or 3-5");
  const int last = scenario.run.warmup + scenario.run.steps - 1;
  if (steps.back() > last)
    throw UserError(
        fmt::format("--trace-steps {}: there is no step {}: the run has steps 0 to {} and measures "
                    "them from {} on; --set run.steps=... makes it longer",
                    text, steps.back(), last, scenario.run.warmup));
  if (steps.back() - steps.front() + 1 != static_cast<int>(steps.size()))
    throw UserError(fmt::format("--trace-steps {}: a trace has steps that follow each other: {}-{}",
                                text, steps.front(), steps.back()));
  return {static_cast<std::size_t>(steps.front()), static_cast<std::size_t>(steps.back())};
}

std::vector<int> ranks_of(const std::string& text, const Scenario& scenario) {
  std::vector<int> ranks = numbers_of("--trace-ranks", text, "0,8-15");
  const int gpus = scenario.cluster.gpus();
  if (ranks.back() >= gpus)
    throw UserError(
        fmt::format("--trace-ranks {}: there is no rank {}: the scenario has ranks 0 to "
                    "{}",
                    text, ranks.back(), grouped(gpus - 1)));
  return ranks;
}

}  // namespace

TimelineChoice trace_choice(const TraceWords& words, const Scenario& scenario) {
  TimelineChoice choice;
  if (!words.steps.empty()) choice.steps = steps_of(words.steps, scenario);
  if (!words.ranks.empty()) choice.ranks = ranks_of(words.ranks, scenario);
  return choice;
}

}  // namespace stepsim
