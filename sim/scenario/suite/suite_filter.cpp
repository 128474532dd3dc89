// Names of conditions against names of tables.
#include "sim/scenario/suite/suite_filter.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/problems.hpp"
#include "sim/core/suggest.hpp"
#include "sim/scenario/read/expression.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

void add_new(std::vector<std::string>& list, const std::string& name) {
  if (!has(list, name)) list.push_back(name);
}

/// The names that a filter can have in any of the suites, each once.
std::vector<std::string> all_names(const std::vector<LoadedSuite>& suites) {
  std::vector<std::string> names;
  for (const LoadedSuite& one : suites)
    for (const std::string& name : one.filter_names) add_new(names, name);
  return names;
}

}  // namespace

Phrase filter_phrase(const std::string& filter) {
  const auto source = std::make_shared<Source>(Source{"--filter", "", filter, true});
  return {.text = filter, .place = {source, 0, 0}};
}

std::vector<std::string> filter_names(const Suite& suite, const Table& table) {
  std::vector<std::string> names;
  for (const NamedPhrase& group : suite.groups) add_new(names, group.name);
  add_new(names, "suite");
  for (const std::string& column : table.columns) add_new(names, column);
  return names;
}

std::vector<std::string> names_lacking(const std::string& filter,
                                       const std::vector<std::string>& names) {
  try {
    std::vector<std::string> lacking = Expression(filter).names();
    std::erase_if(lacking, [&](const std::string& name) { return has(names, name); });
    return lacking;
  } catch (const ExpressionError&) {
    return {};
  }
}

void check_filter(const std::string& filter, const std::vector<LoadedSuite>& suites) {
  const std::vector<std::string> names = all_names(suites);
  const Phrase phrase = filter_phrase(filter);
  Problems problems;
  for (const std::string& name : names_lacking(filter, names)) {
    Place place = phrase.place;
    place.column = Expression(filter).offset_of(name) + 1;
    const std::string where =
        suites.size() == 1 ? "in the table" : fmt::format("in any of the {} suites", suites.size());
    problems.add(place, name, fmt::format("no column {} {}", stepsim::quoted(name), where),
                 did_you_mean(name, names));
  }
  problems.throw_if_any();
}

std::string filter_notes(const std::vector<LoadedSuite>& suites) {
  std::map<std::string, std::vector<std::string>> by_lack;
  for (const LoadedSuite& one : suites)
    if (!one.filter_lacks.empty()) {
      std::vector<std::string> lacks;
      for (const std::string& name : one.filter_lacks) lacks.push_back(stepsim::quoted(name));
      by_lack[fmt::format("{}", fmt::join(lacks, ", "))].push_back(one.suite.name);
    }
  std::string text;
  for (const auto& [lacks, lacking] : by_lack)
    text += fmt::format("--filter: no rows of {}, which {} no column {}\n",
                        fmt::join(lacking, ", "), lacking.size() == 1 ? "has" : "have", lacks);
  return text;
}

}  // namespace stepsim
