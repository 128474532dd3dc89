// What the writers of a validation say of rows that are out of the ordinary.
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/validation.hpp"

using namespace stepsim;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ValidationRow row_of(const std::string& suite, const std::string& label, double measured,
                     double predicted) {
  ValidationRow row{.suite = suite, .label = label, .file = suite + ".csv", .line = 2};
  row.measured = Seconds{measured};
  row.predicted = Prediction{.step = Seconds{predicted}};
  row.predicted->breakdown[0] = predicted;
  return row;
}

ValidationRow unreadable_row() {
  return {.suite = "s",
          .label = "blank",
          .file = "s.csv",
          .line = 3,
          .reason = "measured: column 'time' is blank"};
}

/// Each suite with its rows.
Validation validation_of(const std::vector<std::vector<ValidationRow>>& suites) {
  Validation validation;
  for (const auto& rows : suites) {
    validation.suites.push_back(
        {.name = rows.front().suite, .rows = rows, .score = score_of(rows)});
    validation.rows.insert(validation.rows.end(), rows.begin(), rows.end());
  }
  validation.total = score_of(validation.rows);
  return validation;
}

}  // namespace

TEST_CASE("a measured time that cannot be read is shown as none, not as zero") {
  const Validation validation = validation_of({{row_of("s", "a", 1, 1.1), unreadable_row()}});
  const std::string text = validation_text(validation, {});
  CHECK(contains(text, fmt::format("{:<50}{:>11}{:>11}{:>9}", "blank", "-", "-", "-")));
  CHECK(contains(validation_csv(validation), "s,blank,,,,,,measured: "));
  const auto json = nlohmann::json::parse(validation_json(validation));
  CHECK(json["rows"][0]["measured_s"] == 1);
  CHECK(json["rows"][1]["measured_s"].is_null());
  CHECK(contains(validation_markdown(validation), "| blank | - | - | - |"));
  for (const std::string& one : {text, validation_junit(validation)})
    CHECK_FALSE(contains(one, "0.000 ns"));
}

TEST_CASE("rows that ran and are predicted not to fit are said by suite, and only then") {
  std::vector<ValidationRow> full{row_of("full", "a", 1, 1.1), row_of("full", "b", 1, 1.1),
                                  unreadable_row()};
  const std::vector<ValidationRow> other{row_of("other", "c", 1, 1.1)};
  CHECK_FALSE(contains(validation_text(validation_of({full, other}), {}), "Memory"));
  for (const std::size_t i : {0U, 1U}) full[i].predicted->memory_share = 1.2;
  const Validation validation = validation_of({full, other});
  const std::string words =
      "2 of 3 rows ran and are predicted not to fit in memory, by suite: full 2.";
  CHECK(contains(validation_text(validation, {}), "Memory\n  " + words + "\n"));
  CHECK(contains(validation_markdown(validation), words));
  const auto json = nlohmann::json::parse(validation_json(validation));
  CHECK(json["predicted_not_to_fit"] == 2);
  CHECK(json["suites"][0]["predicted_not_to_fit"] == 2);
  CHECK(json["suites"][1]["predicted_not_to_fit"] == 0);
}
