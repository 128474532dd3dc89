// A value in place of a map is the map with that value.
#include <doctest/doctest.h>

#include "sim/scenario/load.hpp"
#include "sim/scenario/read/doc_writer.hpp"
#include "sim/scenario/read/override.hpp"
#include "tests/shorthand_values.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

const std::string kText =
    "model: mixtral-8x7b\n"
    "cluster: {base: dgx-h100, nodes: 2}\n"
    "training: {sequence_length: 4096, global_batch: 64}\n"
    "data: {sample_size: 8 KiB}\n";

std::string read(const std::vector<std::string>& settings) {
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
  return to_yaml(parse_scenario(kText, "test.yaml", Library{{source_folder()}}, overrides));
}

}  // namespace

TEST_CASE("a value in place of a map is the map with that value, and opens for another key") {
  int shorthands = 0;
  for (const DocWriter::Row& row : scenario_rows()) {
    if (row.word.empty()) continue;
    ++shorthands;
    CAPTURE(row.path);
    const auto value = kShorthandValues.find(row.path);
    REQUIRE(value != kShorthandValues.end());
    const std::string shorthand = row.path + "=" + value->second;
    const std::string whole = row.path + "={" + row.word + ": " + value->second + "}";
    const std::string key = row.path + "." + row.word + "=" + value->second;
    CHECK(read({shorthand}) == read({whole}));
    CHECK(read({shorthand}) == read({key}));
    const bool is_default = row.path == "cluster.node_topology";
    CHECK((read({shorthand}) == read({})) == is_default);
    CHECK(read({shorthand, key}) == read({shorthand}));
  }
  CHECK(shorthands == static_cast<int>(kShorthandValues.size()));
}

TEST_CASE("names of parts are the maps that begin with them") {
  for (const char* pair : {"model=llama3-8b", "cluster=dgx-h100"}) {
    const std::string text = pair;
    const std::size_t equals = text.find('=');
    CHECK(read({text}) ==
          read({text.substr(0, equals) + "={base: " + text.substr(equals + 1) + "}"}));
  }
}

TEST_CASE("a number in place of a map that is there changes its key alone, a word all of it") {
  const std::string map = "parallelism.pipeline={stages: 4, schedule: interleaved, chunks: 4}";
  CHECK(read({map, "parallelism.pipeline=2"}) == read({map, "parallelism.pipeline.stages=2"}));
  CHECK(read({"parallelism.pipeline.chunks=2", "parallelism.pipeline=2"}) ==
        read({"parallelism.pipeline={stages: 2, chunks: 2}"}));
  CHECK(read({"training.recompute={kind: selective, modules: [layernorm]}",
              "training.recompute=none"}) == read({"training.recompute=none"}));
}
