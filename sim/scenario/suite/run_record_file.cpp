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

constexpr std::array<const char*, 13> kColumns{
    "suite",  "publisher", "gpu",  "generation", "model",  "layers", "precision",
    "fabric", "style",     "gpus", "known",      "errors", "unseen"};

/// Numbers with blanks between them, in per cent.
std::vector<double> errors_of(const TableCell& cell, Problems& problems) {
  std::vector<double> errors;
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
  check_trait(3, row, {kGenerations.begin(), kGenerations.end()}, problems);
  check_trait(4, row, {kModelKinds.begin(), kModelKinds.end()}, problems);
  check_trait(5, row, {kSmallLayers, kLargeLayers}, problems);
  check_trait(6, row, {kPrecisionClasses.begin(), kPrecisionClasses.end()}, problems);
  check_trait(7, row, {kFabricClasses.begin(), kFabricClasses.end()}, problems);
}

int gpus_of(const TableCell& cell, Problems& problems) {
  int gpus = 0;
  const char* const end = cell.text.data() + cell.text.size();
  const auto read = std::from_chars(cell.text.data(), end, gpus);
  if (read.ec != std::errc() || read.ptr != end || gpus < 0)
    problems.add(cell.place, "gpus",
                 fmt::format("gpus: {} is no number of GPUs", quoted(cell.text)));
  return gpus;
}

/// Errors with and without what publishers measured are of the same rows.
void check_errors(const RecordedRuns& runs, const TableRow& row, Problems& problems) {
  if (row.cells[11].text.empty())
    problems.add(row.cells[11].place, "errors", "errors: there are none");
  if (!runs.unseen.empty() && runs.unseen.size() != runs.errors.size())
    problems.add(row.cells[12].place, "unseen", "unseen: as many as there are errors, or none");
}

/// Errors in per cent, as errors_of() reads them.
std::string numbers(const std::vector<double>& errors) {
  std::string text;
  for (const double error : errors)
    text += fmt::format("{}{:.3f}", text.empty() ? "" : " ", 100 * error);
  return text;
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
                    .traits = {.gpu = text(2),
                               .generation = text(3),
                               .model = text(4),
                               .layers = text(5),
                               .precision = text(6),
                               .fabric = text(7),
                               .style = text(8),
                               .gpus = gpus_of(row.cells[9], problems)},
                    .known = text(10),
                    .errors = errors_of(row.cells[11], problems),
                    .publisher = text(1),
                    .unseen = errors_of(row.cells[12], problems)});
    check_traits(row, problems);
    check_errors(runs.back(), row, problems);
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
      "cent;\n"
      "# `unseen`: without what the publisher measured of its own machines, where that differs.\n"
      "# `stepsim validate ... --record` writes this file.\n";
  for (const char* column : kColumns)
    text += fmt::format("{}{}", column, column == kColumns.back() ? "\n" : ",");
  for (const RecordedRuns& run : runs) {
    const RunTraits& t = run.traits;
    for (const std::string& value :
         {run.suite, run.source(), t.gpu, t.generation, t.model, t.layers, t.precision, t.fabric,
          t.style, std::to_string(t.gpus), run.known})
      text += cell(value) + ",";
    text += numbers(run.errors) + "," + numbers(run.unseen) + "\n";
  }
  return text;
}

}  // namespace stepsim
