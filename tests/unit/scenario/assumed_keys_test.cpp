// What a scenario leaves open is listed; what it or its framework says is not.
#include "sim/scenario/read/assumed_keys.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "sim/scenario/load.hpp"
#include "sim/scenario/read/keys.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

std::vector<AssumedKey> assumed_of(const std::string& text,
                                   const std::vector<Override>& overrides = {}) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.yaml", text);
  return assumed_keys(parse_scenario(text, path, Library{{source_folder()}}, overrides),
                      stated_keys(path, overrides));
}

std::string value_of(const std::vector<AssumedKey>& keys, const std::string& key) {
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const AssumedKey& k) { return k.key == key; });
  return found == keys.end() ? "stated" : found->value;
}

const std::string kPlain =
    "model: llama3-8b\ncluster: {base: dgx-h100, nodes: 2}\n"
    "training: {sequence_length: 4096, global_batch: 64}\n";

}  // namespace

TEST_CASE("a plain scenario assumes a kernel of attention, and that input is never waited for") {
  const auto keys = assumed_of(kPlain);
  CHECK(value_of(keys, "training.attention") == "flash3");
  CHECK(value_of(keys, "training.precision") == "bf16");
  CHECK(value_of(keys, "training.recompute") == "none");
  CHECK(value_of(keys, "parallelism.data.sharding") == "ddp");
  CHECK(value_of(keys, "framework") == "none");
  CHECK(value_of(keys, "data") == "none");
  CHECK(value_of(keys, "cluster.nodes") == "stated");
}

TEST_CASE("what the command line or the framework says is not assumed") {
  CHECK(value_of(assumed_of(kPlain, {parse_override("training.attention=flash3")}),
                 "training.attention") == "stated");
  const auto keys = assumed_of(kPlain + "framework: pytorch-fsdp2\n");
  CHECK(value_of(keys, "parallelism.data.sharding") == "stated");
  CHECK(value_of(keys, "framework") == "stated");
  CHECK(value_of(keys, "training.attention") == "cudnn");
}

TEST_CASE("how experts are dispatched, and that they are balanced, is assumed") {
  const auto of = [](const std::string& split) {
    return assumed_of(
        "model: mixtral-8x7b\ncluster: {base: dgx-h100, nodes: 1}\n"
        "training: {sequence_length: 4096, global_batch: 64}\n" +
        split);
  };
  const auto keys = of("parallelism: {expert: {degree: 8}}\n");
  CHECK(value_of(keys, "parallelism.expert.dispatcher") == "all_to_all");
  CHECK(value_of(keys, "parallelism.expert.imbalance") == "1");
  CHECK(value_of(keys, "parallelism.expert.permute_fusion") == "true");
  CHECK(value_of(keys, "parallelism.expert.router_fusion") == "true");
  CHECK(value_of(of("parallelism: {expert: {degree: 8, load_variation: 0.3}}\n"),
                 "parallelism.expert.imbalance") == "stated");
  // Ranks that hold all experts exchange nothing.
  CHECK(value_of(of(""), "parallelism.expert.dispatcher") == "stated");
  CHECK(value_of(assumed_of(kPlain), "parallelism.expert.router_fusion") == "stated");
}

TEST_CASE("keys without a bearing on the job are not listed") {
  const auto keys = assumed_of(
      "model: resnet50\ncluster: {base: dgx-a100-80, nodes: 1, gpus_per_node: 1}\n"
      "training: {global_batch: 64}\n");
  CHECK(value_of(keys, "training.attention") == "stated");
  CHECK(value_of(keys, "parallelism.data.sharding") == "stated");
}
