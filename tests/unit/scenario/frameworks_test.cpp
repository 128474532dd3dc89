// Framework presets: every line of their table is what the reader does, and stated keys win.
#include "sim/scenario/describe/frameworks.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/plan/load.hpp"
#include "sim/scenario/describe/framework_abilities.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/names.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

const Library kLibrary{{source_folder()}};

/// 16 GPUs, so that few data-parallel ranks leave Megatron's bucket at its least.
std::string scenario_text(Framework framework) {
  return fmt::format(R"(
framework: {}
model: {{base: llama2-7b}}
cluster: {{base: dgx-h100, nodes: 2}}
training: {{sequence_length: 2048, global_batch: 64}}
)",
                     name_of(framework));
}

Scenario parse(Framework framework, const std::vector<Override>& overrides) {
  return parse_scenario(scenario_text(framework), "test.yaml", kLibrary, overrides);
}

/// The values of to_yaml by their dotted paths.
std::map<std::string, std::string> values_of(const Scenario& scenario) {
  std::map<std::string, std::string> values;
  std::vector<std::string> path;
  std::istringstream lines(to_yaml(scenario));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t depth = line.find_first_not_of(' ') / 2;
    const std::size_t colon = line.find(':');
    path.resize(depth);
    path.push_back(line.substr(2 * depth, colon - 2 * depth));
    std::string dotted;
    for (const std::string& key : path) dotted += (dotted.empty() ? "" : ".") + key;
    if (colon + 2 < line.size()) values[dotted] = line.substr(colon + 2);
  }
  return values;
}

std::vector<Override> conditions_of(const FrameworkPreset& preset) {
  if (preset.when.empty()) return {};
  return {parse_override(preset.when)};
}

/// Some other value that the key may have.
std::string other_than(const std::string& value) {
  const std::map<std::string, std::string> others{
      {"true", "false"},    {"false", "true"},      {"ddp", "zero1"},
      {"zero3", "zero1"},   {"fp32", "bf16"},       {"fp16", "fp32"},
      {"pre", "post"},      {"layers", "none"},     {"all", "none"},
      {"100000", "7"},      {"gradient", "bucket"}, {"128", "8"},
      {"free", "keep"},     {"foreach", "fused"},   {"transformer_engine", "local"},
      {"calls", "launches"}};
  const auto other = others.find(value);
  return other == others.end() ? "7 MB" : other->second;
}

/// Whether the reader knows the key and the value, whatever else the value may need.
bool is_known(Framework framework, const Override& setting) {
  try {
    parse_scenario(scenario_text(framework), "test.yaml", kLibrary, {setting}, known_names());
  } catch (const UserError& error) {
    const std::string text = error.what();
    return text.find(" is not ") == std::string::npos &&
           text.find("unknown key") == std::string::npos;
  }
  return true;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("every preset of every framework is what the reader fills in") {
  for (const auto& [the_name, framework] : kNames<Framework>) {
    const auto& name = the_name;
    int presets = 0;
    for (const FrameworkPreset& preset : framework_presets()) {
      if (preset.framework != framework) continue;
      CAPTURE(std::string(name));
      CAPTURE(preset.path);
      CAPTURE(preset.when);
      ++presets;
      CHECK(values_of(parse(framework, conditions_of(preset)))[preset.path] == preset.value);
      CHECK_FALSE(preset.source.empty());
    }
    CHECK(presets >= 6);
  }
}

TEST_CASE("a value that is stated wins over the preset") {
  for (const FrameworkPreset& preset : framework_presets()) {
    CAPTURE(name_of(preset.framework));
    CAPTURE(preset.path);
    auto overrides = conditions_of(preset);
    const std::string other = other_than(preset.value);
    overrides.push_back({preset.path, other});
    CHECK(values_of(parse(preset.framework, overrides))[preset.path] == other);
  }
}

TEST_CASE("without a framework the defaults are those of DDP with local accumulation") {
  Scenario plain = parse_scenario(scenario_text(Framework::pytorch_ddp), "test.yaml", kLibrary,
                                  {{"framework", "null"}});
  const Scenario ddp = parse(Framework::pytorch_ddp, {});
  CHECK_FALSE(plain.framework.has_value());
  CHECK(plain.parallelism.data.no_sync);
  CHECK_FALSE(plain.parallelism.data.rebuild_buckets);
  plain.parallelism.data.no_sync = false;
  plain.parallelism.data.rebuild_buckets = true;
  plain.parallelism.data.bucket_views = false;
  plain.parallelism.data.broadcast_buffers = true;
  plain.parallelism.data.averaging = Averaging::gradient;
  CHECK(plain.parallelism == ddp.parallelism);
}

TEST_CASE("Megatron-LM's bucket grows with the data-parallel ranks, and counts a rank's elements") {
  const auto bucket = [](const std::vector<Override>& overrides) {
    return parse(Framework::megatron, overrides).parallelism.data.bucket.bytes();
  };
  CHECK(bucket({}) == 40e6 * 4);
  CHECK(bucket({{"cluster.nodes", "16"}, {"training.global_batch", "128"}}) == 128e6 * 4);
  CHECK(bucket({{"cluster.nodes", "16"},
                {"training.global_batch", "128"},
                {"parallelism.tensor", "2"}}) == 64e6 * 4);
  CHECK(bucket({{"training.precision", "fp16"}}) == 40e6 * 2);
}

TEST_CASE("a bucket that is stated is also the first one") {
  for (const auto& [the_name, framework] : kNames<Framework>) {
    const auto& name = the_name;
    CAPTURE(std::string(name));
    const Scenario s = parse(framework, {{"parallelism.data.bucket", "9 MB"}});
    CHECK(s.parallelism.data.first_bucket.bytes() == 9e6);
  }
}

TEST_CASE("a scenario with a framework is written out in full and reads back as an equal one") {
  for (const auto& [the_name, framework] : kNames<Framework>) {
    const auto& name = the_name;
    CAPTURE(std::string(name));
    const Scenario s = parse(framework, {});
    CHECK(parse_scenario(to_yaml(s), "test.yaml", kLibrary) == s);
  }
}

TEST_CASE("every value that a framework has is one that a scenario can state") {
  for (const FrameworkAbility& row : framework_abilities()) {
    CAPTURE(name_of(row.framework));
    CAPTURE(row.path);
    CHECK_FALSE(row.source.empty());
    CHECK_FALSE(row.values.empty());
    const bool is_list = row.path == "training.recompute.modules";
    for (const std::string& value : row.values) {
      CAPTURE(value);
      const std::string text = value == "any" ? "2" : is_list ? "[" + value + "]" : value;
      CHECK(is_known(row.framework, {row.path, text}));
    }
    CHECK_FALSE(is_known(row.framework, {row.path, is_list ? "[nonsense]" : "nonsense"}));
  }
}

TEST_CASE("a framework can do all that it does by default") {
  for (const FrameworkPreset& preset : framework_presets()) {
    CAPTURE(name_of(preset.framework));
    CAPTURE(preset.path);
    const bool stages = preset.when.find("stages") != std::string::npos;
    CHECK(framework_can(preset.framework, preset.path, preset.value, stages));
  }
}

TEST_CASE("what a framework cannot do, it can neither do beside pipeline stages") {
  const std::string sharding = "parallelism.data.sharding";
  CHECK(framework_can(Framework::deepspeed, sharding, "zero2"));
  CHECK_FALSE(framework_can(Framework::deepspeed, sharding, "zero2", true));
  CHECK(framework_can(Framework::deepspeed, sharding, "zero1", true));
  CHECK_FALSE(framework_can(Framework::pytorch_fsdp2, sharding, "ddp"));
  CHECK_FALSE(framework_can(Framework::deepspeed, "parallelism.pipeline.schedule", "interleaved"));
  CHECK(framework_can(Framework::megatron, "parallelism.tensor", "8", true));
  CHECK_FALSE(framework_can(Framework::pytorch_ddp, "parallelism.expert.degree", "8"));
  CHECK(framework_can(Framework::megatron, "parallelism.order", "dp-tp-pp"));
}

TEST_CASE("docs/frameworks.md holds the tables of presets and abilities") {
  const fs::path path = fs::path(source_folder()) / "docs/frameworks.md";
  const std::string begin =
      "<!-- tables: made from the presets and abilities; renew with "
      "STEPSIM_UPDATE=1 build/tests/unit_frameworks -->\n\n";
  const std::string text = text_of(path);
  const auto at = text.find(begin);
  REQUIRE(at != std::string::npos);
  if (std::getenv("STEPSIM_UPDATE") != nullptr) {
    std::ofstream(path) << text.substr(0, at + begin.size()) << framework_reference();
  }
  const bool is_fresh = text_of(path).substr(at + begin.size()) == framework_reference();
  CHECK_MESSAGE(is_fresh, "a preset has changed: STEPSIM_UPDATE=1 build/tests/unit_frameworks");
}
