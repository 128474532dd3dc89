// What the writers of a validation say of rows that are out of the ordinary.
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

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

TEST_CASE("a picture holds its legend, and of forty suites each has a mark of its own") {
  std::vector<std::vector<ValidationRow>> suites;
  for (int i = 0; i < 40; ++i)
    suites.push_back({row_of(fmt::format("a_suite_with_a_name_{}", i), "a", 1, 1.1)});
  const std::string svg = validation_scatter(validation_of(suites));
  pugi::xml_document document;
  REQUIRE(document.load_string(svg.c_str()));
  const pugi::xml_node page = document.child("svg");
  const double width = page.attribute("width").as_double();
  const double height = page.attribute("height").as_double();
  CHECK(svg.find(fmt::format("viewBox=\"0 0 {} {}\"", width, height)) != std::string::npos);

  int named = 0;
  for (const pugi::xml_node words : page.children("text")) {
    const std::string name = words.text().get();
    if (!name.starts_with("a_suite_")) continue;
    ++named;
    CHECK(words.attribute("y").as_double() < height);
    CHECK(words.attribute("x").as_double() + 7 * static_cast<double>(name.size()) < width);
  }
  CHECK(named == 40);

  // From one second to 10,000 powers of ten alone have room.
  suites.push_back({row_of("a_suite_of_long_steps", "a", 1e4, 1e4)});
  const std::string longer = validation_scatter(validation_of(suites));
  for (const char* title : {">1 s<", ">10 s<", ">10000 s<"}) CHECK(contains(longer, title));
  CHECK(contains(validation_scatter(validation_of({{row_of("s", "a", 1, 10)}})), ">2 s<"));
  CHECK_FALSE(contains(longer, ">2 s<"));

  std::set<std::string> marks;
  int titles = 0;
  for (const pugi::xml_node mark : page.children("path")) {
    const std::string drawn = mark.attribute("d").value();
    if (std::string(mark.attribute("class").value()) != "mark") continue;
    marks.insert(drawn.substr(drawn.find('m')) + mark.attribute("fill").value());
    titles += mark.child("title") ? 1 : 0;
  }
  CHECK(marks.size() == 40);
  CHECK(titles == 40);
  CHECK(contains(svg, "<title>a_suite_with_a_name_7, a: +10.0 %</title>"));
}
