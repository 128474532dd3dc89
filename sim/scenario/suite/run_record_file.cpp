// Rows of a table to records of runs, and back.
#include "sim/scenario/suite/run_record_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/core/suggest.hpp"
#include "sim/core/table.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 8> kColumns{"suite",  "gpu",       "generation", "model",
                                              "layers", "precision", "known",      "errors"};

/// Numbers with blanks between them, in per cent; one at least.
std::vector<double> errors_of(const TableCell& cell, Problems& problems) {
  std::vector<double> errors;
  if (cell.text.empty()) problems.add(cell.place, "errors", "errors: there are none");
  const char* const end = cell.text.data() + cell.text.size();
  for (const char* at = cell.text.data(); at < end; ++at) {
    double percent = 0;
    const auto read = std::from_chars(at, end, percent);
    if (read.ec != std::errc() || !std::isfinite(percent) || (read.ptr < end && *read.ptr != ' ')) {
      problems.add(cell.place, "errors",
                   fmt::format("errors: {} are not numbers", quoted(cell.text)));
      return {};
    }
    errors.push_back(percent / 100);
    at = read.ptr;
  }
  return errors;
}

/// Words that a trait can be; a word that is none of them would make a kind of runs that is like no
/// other.
void check_trait(std::size_t column, const TableRow& row, const std::vector<std::string>& words,
                 Problems& problems) {
  const auto& [text, place] = row.cells[column];
  if (text.empty() || std::ranges::find(words, text) != words.end()) return;
  problems.add(place, kColumns[column],
               fmt::format("{}: unknown {}", kColumns[column], quoted(text)),
               did_you_mean(text, words));
}

void check_traits(const TableRow& row, Problems& problems) {
  check_trait(2, row, {kGenerations.begin(), kGenerations.end()}, problems);
  check_trait(3, row, {kModelKinds.begin(), kModelKinds.end()}, problems);
  check_trait(4, row, {kSmallLayers, kLargeLayers}, problems);
  check_trait(5, row, {kPrecisionClasses.begin(), kPrecisionClasses.end()}, problems);
}

std::string cell(const std::string& text) {
  if (text.find_first_of("\",") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

}  // namespace

std::string runs_beside(const std::string& record) {
  const fs::path path(record);
  return (path.parent_path() / (path.stem().string() + "_runs.csv")).string();
}

std::vector<RecordedRuns> load_recorded_runs(const std::string& path) {
  Problems problems;
  const Table table = read_table(read_source(path), problems);
  if (table.columns != std::vector<std::string>(kColumns.begin(), kColumns.end()))
    problems.add(table.head, "", "not a record of runs: `stepsim validate --record` writes one");
  problems.throw_if_any();
  std::vector<RecordedRuns> runs;
  std::set<std::tuple<std::string, RunTraits, std::string>> kinds;
  for (const TableRow& row : table.rows) {
    const auto text = [&](std::size_t column) { return row.cells[column].text; };
    runs.push_back({.suite = text(0),
                    .traits = {text(1), text(2), text(3), text(4), text(5)},
                    .known = text(6),
                    .errors = errors_of(row.cells[7], problems)});
    check_traits(row, problems);
    if (!kinds.insert({runs.back().suite, runs.back().traits, runs.back().known}).second)
      problems.add(row.place, "",
                   "the suite has this kind of runs in a row above: one row has all of its errors");
  }
  problems.throw_if_any();
  return runs;
}

std::optional<std::vector<RecordedRuns>> recorded_runs_of(const Library& library) {
  for (const std::string& root : library.roots) {
    const fs::path path = fs::path(root) / "validate" / "recorded_runs.csv";
    std::error_code ignored;
    if (fs::exists(path, ignored)) return load_recorded_runs(path.string());
  }
  return std::nullopt;
}

std::string to_csv(const std::vector<RecordedRuns>& runs) {
  std::string text =
      "# Errors of the suites' rows by kind of run, predicted over measured less one, in per "
      "cent.\n"
      "# `stepsim validate ... --record` writes this file.\n";
  for (const char* column : kColumns)
    text += fmt::format("{}{}", column, column == kColumns.back() ? "\n" : ",");
  for (const RecordedRuns& run : runs) {
    const RunTraits& t = run.traits;
    for (const std::string& value :
         {run.suite, t.gpu, t.generation, t.model, t.layers, t.precision, run.known})
      text += cell(value) + ",";
    for (std::size_t i = 0; i < run.errors.size(); ++i)
      text += fmt::format("{}{:.3f}", i == 0 ? "" : " ", 100 * run.errors[i]);
    text += "\n";
  }
  return text;
}

}  // namespace stepsim
