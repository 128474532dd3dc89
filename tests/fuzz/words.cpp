// What stands in words of the command line: settings, values of axes, conditions, expressions.
//
// The first line is an expression, the second a setting, the third an axis, the fourth a duration.
#include <sstream>
#include <string>

#include "sim/core/duration.hpp"
#include "sim/core/error.hpp"
#include "sim/core/problems.hpp"
#include "sim/plan/load.hpp"
#include "sim/scenario/read/expression.hpp"
#include "sim/scenario/sweep/axis_values.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {
namespace {

void evaluate(const std::string& text) {
  try {
    Expression{text}([](const std::string& name) -> Datum { return datum_of(name); });
  } catch (const ExpressionError& error) {
    require(error.offset >= 0 && static_cast<std::size_t>(error.offset) <= text.size(),
            "an error has its place in the expression");
  }
}

/// Refusals are as good as answers: the next reader follows.
template <class Read>
void try_to(Read&& read) {
  try {
    read();
  } catch (const UserError&) {
  }
}

}  // namespace

void read_text(const std::string& text) {
  std::istringstream lines(text);
  std::string expression, setting, axis, duration;
  std::getline(lines, expression);
  std::getline(lines, setting);
  std::getline(lines, axis);
  std::getline(lines, duration);
  evaluate(expression);
  try_to([&] {
    const std::string scenario =
        "model: tiny\ncluster: pod\ntraining: {sequence_length: 512, global_batch: 64}\n";
    parse_scenario(scenario, "fuzz.yaml", fuzz_library(), {parse_override(setting)}, known_names());
  });
  try_to([&] {
    Problems problems;
    parse_vary(axis, problems);
    problems.throw_if_any();
  });
  try_to([&] { duration_of("--for", duration); });
}

}  // namespace stepsim
