// Records by the same description that documents read and write.
#include "sim/scenario/suite/error_record.hpp"

#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/describe/describe.hpp"
#include "sim/scenario/describe/describe_suite.hpp"
#include "sim/scenario/read/map_reader.hpp"
#include "sim/scenario/read/map_writer.hpp"

namespace stepsim {

namespace {

/// Refuses two entries for the same rows, of which only the first would be compared with. `key`
/// says what rows an entry is for.
template <class Entry, class Key>
void refuse_doubled(const std::vector<Entry>& entries, const std::string& list, const Key& key,
                    Reading& reading) {
  std::map<decltype(key(entries.front())), std::size_t> seen;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto [first, is_new] = seen.emplace(key(entries[i]), i);
    if (is_new) continue;
    const std::string path = fmt::format("{}[{}]", list, i);
    const std::string before = fmt::format("{}[{}]", list, first->second);
    reading.problems.add(reading.places.at(path), path,
                         fmt::format("{}: {} is of the same rows, on line {}", path, before,
                                     reading.places.at(before).line));
  }
}

}  // namespace

ErrorRecord load_error_record(const std::string& path) {
  const auto source = read_source(path);
  const Library none;
  Reading reading{none, {}, {}};
  const auto tree = parse_tree(source, "", reading.problems);
  reading.problems.throw_if_any();
  ErrorRecord record;
  if (tree->kind == Tree::Kind::empty) return record;
  if (!tree->is_map()) reading.problems.add({source, 1, 1}, "", "a record is a map of keys");
  MapReader io(reading, *tree, "", "the record", {source, 1, 1});
  describe(io, record);
  io.finish();
  if (reading.problems.empty()) {
    refuse_doubled(
        record.groups, "groups",
        [](const RecordedErrors& of) { return std::tuple(of.suite, of.name, of.value); }, reading);
    refuse_doubled(
        record.choices, "choices",
        [](const RecordedChoices& of) { return std::pair(of.suite, of.with_known); }, reading);
    refuse_doubled(
        record.growth, "growth", [](const RecordedGrowth& of) { return of.suite; }, reading);
  }
  reading.problems.throw_if_any();
  return record;
}

std::string to_yaml(const ErrorRecord& record) {
  ErrorRecord copy = record;
  MapWriter io;
  describe(io, copy);
  return "# Errors of the suites; `stepsim validate ... --record` writes this file.\n" + io.text();
}

}  // namespace stepsim
