// Writes a validation as tables of a Markdown document.
#include "sim/report/validation.hpp"
#include "sim/report/validation/validation_words.hpp"
#include "sim/validation/recorded_runs.hpp"

namespace stepsim {
namespace {

/// The text with the characters escaped that would end a cell.
std::string cell(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string statistics(const std::string& title, const Errors& e) {
  if (e.count == 0) return fmt::format("| {} | 0 | - | - | - | - | - |\n", cell(title));
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", cell(title), grouped(e.count),
                     error_text(e.mean), error_text(e.median), error_text(e.p90), error_text(e.max),
                     signed_error(e.bias));
}

std::string whole(const std::string& title, const Score& score) {
  std::string text = statistics(title, score.all);
  if (score.expected.count < score.all.count)
    text += statistics(
        fmt::format("{}, without {} that are known", title, score.all.count - score.expected.count),
        score.expected);
  return text;
}

std::string suite_text(const SuiteResult& suite) {
  std::string text =
      fmt::format("### {}\n\n{}. Source: {}.\n\n", suite.name, suite.title, suite.source);
  for (const std::string& assumption : suite.assumptions) text += fmt::format("- {}\n", assumption);
  if (!suite.assumptions.empty()) text += "\n";
  text += "| rows | n | mean | median | 90th | largest | bias |\n|---|---|---|---|---|---|---|\n";
  text += whole("all", suite.score);
  for (const GroupScore& group : suite.score.groups)
    text += statistics(fmt::format("{} {}", group.name, group.value), group.all);
  if (suite.score.growth)
    text += "\nA doubling of GPUs adds " + growth_words(*suite.score.growth) + ".\n";
  text += "\n| worst rows | measured | predicted | error | |\n|---|---|---|---|---|\n";
  for (const std::size_t i : suite.score.worst) {
    const ValidationRow& row = suite.rows[i];
    text += fmt::format("| {} | {} | {} | {} | {} |\n", cell(row.label), time_text(row.measured),
                        time_text(row.predicted->step), signed_error(row.error()),
                        cell(remark_of(row, suite.rows)));
  }
  for (const std::size_t i : suite.score.unpredicted) {
    const ValidationRow& row = suite.rows[i];
    text += fmt::format("| {} | {} | - | - | {} |\n", cell(row.label), time_text(row.measured),
                        cell(remark_of(row, suite.rows)));
  }
  return text + "\n";
}

}  // namespace

std::string validation_markdown(const Validation& validation) {
  std::string text =
      "| suite | rows | mean | median | 90th | largest | bias |\n|---|---|---|---|---|---|---|\n";
  for (const SuiteResult& suite : validation.suites) text += whole(suite.name, suite.score);
  if (validation.suites.size() > 1) text += whole("all", validation.total);
  const Score& total = validation.total;
  const std::string words =
      choice_words(recorded("", false, total.expected_choices), recorded("", true, total.choices));
  const std::string sources = source_words(source_errors(recorded_runs(validation.rows)));
  for (const std::string& sentence : {sources, words, fit_words(validation)})
    if (!sentence.empty()) text += "\n" + sentence + "\n";
  text += "\n";
  for (const SuiteResult& suite : validation.suites) text += suite_text(suite);
  text.pop_back();
  return text;
}

}  // namespace stepsim
