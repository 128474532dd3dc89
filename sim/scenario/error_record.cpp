// Records by the same description that documents read and write.
#include "sim/scenario/error_record.hpp"

#include "sim/scenario/describe.hpp"
#include "sim/scenario/describe_suite.hpp"
#include "sim/scenario/map_reader.hpp"
#include "sim/scenario/map_writer.hpp"

namespace stepsim {

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
