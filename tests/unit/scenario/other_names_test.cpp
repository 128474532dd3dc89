// Words that people type for a key lead to it.
#include "sim/scenario/read/other_names.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/read/doc_writer.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

std::string error_of(const std::string& text) {
  try {
    (void)parse_scenario(text, "test.yaml", Library{{source_folder()}});
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("every other name is that of one key, sorted, and the name of none") {
  const auto& paths = scenario_paths();
  std::string last;
  for (const OtherName& other : other_names()) {
    CAPTURE(other.name);
    CHECK(std::string(other.name) > last);
    last = other.name;
    if (other.key.empty())
      CHECK(other.remark.size() > 0);
    else
      CHECK(std::find(paths.begin(), paths.end(), other.key) != paths.end());
    CHECK(std::find(paths.begin(), paths.end(), other.name) == paths.end());
  }
  REQUIRE(other_name("Seq-Len") != nullptr);
  CHECK(other_name("Seq-Len")->key == "training.sequence_length");
  CHECK(other_name("layers") == nullptr);
  REQUIRE(other_name("torch.backends.cudnn.benchmark") == nullptr);
  CHECK(other_name("cudnn.benchmark")->key == "training.convolution_autotuning");
  CHECK(other_name(".item()")->key == "host.sync");
}

TEST_CASE("a framework's word for a key gets the key proposed, wherever it stands") {
  const std::string error = error_of(
      "model: gpt-22b\n"
      "cluster: {base: dgx-a100-80, num_nodes: 4}\n"
      "seq_len: 2048\n"
      "training: {batch_size: 64, dtype: bf16, activation_checkpointing: true}\n"
      "parallelism: {tp: 8, data: {cp: 2}}\n");
  CHECK(has(error, "'seq_len' in the scenario, did you mean 'training.sequence_length'?"));
  CHECK(has(error, "did you mean 'global_batch' (sequences of a whole step, of all ranks and "));
  CHECK(has(error, "'dtype' in 'training', did you mean 'precision'?"));
  CHECK(has(error, "did you mean 'recompute' (full, selective or none)?"));
  CHECK(has(error, "'tp' in 'parallelism', did you mean 'tensor'?"));
  CHECK(has(error, "'cp' in 'parallelism.data', did you mean 'parallelism.context.degree'?"));
  CHECK(has(error, "did you mean 'nodes'?"));
  // What was meant is not missing.
  CHECK(!has(error, "missing key 'global_batch'"));
}
