// A scenario as keys and values.
#include <algorithm>
#include <optional>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/read/keys.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

std::optional<std::string> value_of(const std::vector<KeyValue>& keys, const std::string& key) {
  for (const KeyValue& candidate : keys)
    if (candidate.key == key) return candidate.value;
  return std::nullopt;
}

std::vector<KeyValue> keys_of_text(const std::string& more = "") {
  const std::string text =
      "model: gpt2\ncluster: dgx-h100\ntraining: {sequence_length: 1024, global_batch: 8}\n" + more;
  return keys_of(parse_scenario(text, "test.yaml", Library{{source_folder()}}));
}

}  // namespace

TEST_CASE("a scenario's keys have its defaults, as text without quotes") {
  const auto keys = keys_of_text("description: 'one: two'\n");
  CHECK(value_of(keys, "training.global_batch") == "8");
  CHECK(value_of(keys, "parallelism.data.bucket") == "25 MiB");
  CHECK(value_of(keys, "cluster.gpu") == "h100");
  CHECK(value_of(keys, "description") == "one: two");
  CHECK_FALSE(value_of(keys, "data.workers"));
}

TEST_CASE("lists are values, and lists of maps have a number") {
  const auto keys = keys_of_text(
      "faults:\n  slow_gpus: [{ranks: [5, 6], delay: 50 ms}, {ranks: [7], factor: 2}]\n");
  CHECK(value_of(keys, "faults.slow_gpus[0].ranks") == "[5, 6]");
  CHECK(value_of(keys, "faults.slow_gpus[1].factor") == "2");
  CHECK(value_of(keys, "training.recompute.modules") == "[core_attention]");
}

TEST_CASE("a framework's defaults are among them") {
  const auto plain = keys_of_text(), megatron = keys_of_text("framework: megatron\n");
  const auto differs = [&](const KeyValue& key) { return value_of(plain, key.key) != key.value; };
  CHECK(std::count_if(megatron.begin(), megatron.end(), differs) > 1);
}

TEST_CASE("the keys of its YAML are those of a scenario, and what is no YAML is said") {
  const Scenario scenario = parse_scenario(
      "model: gpt2\ncluster: dgx-h100\ntraining: {sequence_length: 1024, global_batch: 8}\n",
      "test.yaml", Library{{source_folder()}});
  const auto own = keys_of(scenario), read = keys_of_yaml({"old", "", to_yaml(scenario)});
  REQUIRE(own.size() == read.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    CHECK(own[i].key == read[i].key);
    CHECK(own[i].value == read[i].value);
  }
  CHECK_THROWS_AS(keys_of_yaml({"old", "", "a: [1"}), UserError);
}
