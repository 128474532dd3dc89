// Gathers rows by kind, and compares one record with another.
#include "sim/validation/recorded_runs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace stepsim {
namespace {

/// The key that tells one entry of the record from another.
using Kind = std::tuple<std::string, RunTraits, std::string>;
using Kinds = std::map<Kind, std::vector<double>>;

Kinds kinds_of(const std::vector<RecordedRuns>& runs) {
  Kinds kinds;
  for (const RecordedRuns& run : runs) kinds[{run.suite, run.traits, run.known}] = run.errors;
  return kinds;
}

std::vector<RecordedRuns> runs_of(const Kinds& kinds) {
  std::vector<RecordedRuns> runs;
  for (const auto& [kind, errors] : kinds) {
    const auto& [suite, traits, known] = kind;
    runs.push_back({suite, traits, known, errors});
    std::sort(runs.back().errors.begin(), runs.back().errors.end());
  }
  return runs;
}

std::set<std::string> suites_of(const std::vector<RecordedRuns>& runs) {
  std::set<std::string> suites;
  for (const RecordedRuns& run : runs) suites.insert(run.suite);
  return suites;
}

std::string title_of(const Kind& kind) {
  const auto& [suite, t, known] = kind;
  return fmt::format("{}, {} {}{} {}{}", suite, t.gpu, t.model,
                     t.layers.empty() ? "" : " of " + t.layers, t.precision,
                     known.empty() ? "" : ", known");
}

/// A mean error as the record writes it.
std::string mean_of(const std::vector<double>& errors) {
  return fmt::format("{:.2f} %", 100 * errors_of(errors).mean);
}

std::string change_of(const Kind& kind, const std::vector<double>* before,
                      const std::vector<double>* now) {
  const auto line = [&](const std::string& change) {
    return fmt::format("  {:<48} {}\n", title_of(kind), change);
  };
  if (now == nullptr) return line("gone");
  if (before == nullptr) return line("new, mean " + mean_of(*now));
  const bool as_many = before->size() == now->size();
  if (as_many && mean_of(*before) == mean_of(*now)) return "";
  return line(
      fmt::format("mean {} -> {}{}", mean_of(*before), mean_of(*now),
                  as_many ? "" : fmt::format(", rows {} -> {}", before->size(), now->size())));
}

}  // namespace

std::vector<RecordedRuns> recorded_runs(const std::vector<ValidationRow>& rows) {
  Kinds kinds;
  for (const ValidationRow& row : rows)
    if (row.predicted) kinds[{row.suite, row.traits, row.known}].push_back(row.error());
  return runs_of(kinds);
}

std::vector<RecordedRuns> updated(const std::vector<RecordedRuns>& record,
                                  const std::vector<RecordedRuns>& now) {
  const std::set<std::string> scored = suites_of(now);
  Kinds kinds = kinds_of(record);
  std::erase_if(kinds,
                [&](const auto& entry) { return scored.count(std::get<0>(entry.first)) > 0; });
  kinds.merge(kinds_of(now));
  return runs_of(kinds);
}

std::string difference(const std::vector<RecordedRuns>& record,
                       const std::vector<RecordedRuns>& now) {
  const std::set<std::string> scored = suites_of(now);
  const Kinds before = kinds_of(record), after = kinds_of(now);
  std::set<Kind> all;
  for (const Kinds* kinds : {&before, &after})
    for (const auto& [kind, errors] : *kinds)
      if (scored.count(std::get<0>(kind)) > 0) all.insert(kind);
  const auto find = [](const Kinds& kinds, const Kind& kind) {
    const auto found = kinds.find(kind);
    return found == kinds.end() ? nullptr : &found->second;
  };
  std::string text;
  for (const Kind& kind : all) text += change_of(kind, find(before, kind), find(after, kind));
  return text;
}

}  // namespace stepsim
