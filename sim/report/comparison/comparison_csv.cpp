// Writes a comparison as CSV: one line a number, in base SI units.
#include "sim/report/comparison/comparison_report.hpp"
#include "sim/text/csv_cell.hpp"
#include "sim/text/digits.hpp"

namespace stepsim {
namespace {

using Cells = std::vector<std::string>;
using Numbers = std::vector<std::optional<double>>;

class Csv {
 public:
  explicit Csv(const Comparison& comparison) : c_(comparison) {
    Cells cells{"what", "name", "unit"};
    for (const Contender& run : c_.runs) cells.push_back(run.label);
    for (std::size_t i = 1; i < c_.runs.size(); ++i)
      cells.push_back(c_.runs[i].label + " - " + c_.runs.front().label);
    line(cells);
  }

  void texts(const std::string& what, const InputDifference& input) {
    Cells cells{what, input.key, ""};
    for (const auto& value : input.values) cells.push_back(value.value_or(""));
    cells.resize(cells.size() + c_.runs.size() - 1);
    line(cells);
  }

  void numbers(const std::string& what, const std::string& name, const std::string& unit,
               const Numbers& values) {
    Cells cells{what, name, unit};
    for (const auto& value : values) cells.push_back(value ? digits(*value) : "");
    for (std::size_t i = 1; i < values.size(); ++i)
      cells.push_back(values[i] && values[0] ? digits(*values[i] - *values[0]) : "");
    line(cells);
  }

  /// A line of what `of` finds in each result.
  template <class Of>
  void answer(const std::string& name, const std::string& unit, const Of& of) {
    Numbers values;
    for (const Contender& run : c_.runs) values.push_back(of(run.result));
    numbers("answer", name, unit, values);
  }

  std::string take() { return std::move(text_); }

 private:
  void line(const Cells& cells) {
    for (const std::string& cell : cells) text_ += csv_cell(cell) + ",";
    text_.back() = '\n';
  }

  const Comparison& c_;
  std::string text_;
};

void add_answers(Csv& csv) {
  using Facts = ResultFacts;
  using Value = std::optional<double>;
  csv.answer("step_time", "s", [](const Facts& r) { return Value(r.step_time.seconds()); });
  csv.answer("mean_step", "s", [](const Facts& r) { return Value(r.mean().seconds()); });
  csv.answer("tokens_per_s", "1/s", [](const Facts& r) { return r.tokens_per_s; });
  csv.answer("samples_per_s", "1/s", [](const Facts& r) { return Value(r.samples_per_s); });
  csv.answer("gpus", "", [](const Facts& r) { return Value(r.gpus); });
  csv.answer("mfu", "", [](const Facts& r) { return Value(r.mfu); });
  csv.answer("hfu", "", [](const Facts& r) { return Value(r.hfu); });
  csv.answer("peak_memory", "bytes",
             [](const Facts& r) { return r.memory ? Value(r.memory->peak.bytes()) : Value(); });
  csv.answer("fits", "",
             [](const Facts& r) { return r.memory ? Value(r.memory->fits ? 1 : 0) : Value(); });
  csv.answer("cost_per_million_tokens", "dollars",
             [](const Facts& r) { return r.cost ? r.cost->per_million_tokens : Value(); });
}

/// Adds the causes in the order of the first difference; times are for as much work as the first
/// run does.
void add_causes(const Comparison& c, Csv& csv) {
  for (const CauseDifference& cause : c.differences.front().causes) {
    Numbers values{cause.before.seconds()};
    for (const Difference& difference : c.differences) {
      values.emplace_back();
      for (const CauseDifference& own : difference.causes)
        if (own.cause == cause.cause) values.back() = own.now.seconds();
    }
    csv.numbers("cause", cause.cause, "s", values);
  }
}

}  // namespace

std::string comparison_csv(const Comparison& c) {
  Csv csv(c);
  for (const InputDifference& input : c.inputs) csv.texts("input", input);
  for (const InputDifference& hash : c.hashes) csv.texts("hash", hash);
  add_answers(csv);
  Numbers work{c.differences.front().before.seconds()}, p_values{std::nullopt};
  for (const Difference& difference : c.differences) {
    work.emplace_back(difference.now.seconds());
    p_values.push_back(difference.test ? std::optional(difference.test->p) : std::nullopt);
  }
  csv.numbers("answer", "time_for_as_much_work", "s", work);
  csv.numbers("answer", "p_value", "", p_values);
  add_causes(c, csv);
  return csv.take();
}

}  // namespace stepsim
