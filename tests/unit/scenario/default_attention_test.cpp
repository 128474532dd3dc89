// Which attention kernel runs where nobody says.
#include "sim/scenario/describe/default_attention.hpp"

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

Scenario read(const std::string& model, const std::string& cluster, const std::string& more = "") {
  return parse_scenario("model: " + model + "\ncluster: {base: " + cluster +
                            "}\ntraining: {sequence_length: 4096, global_batch: 8" + more + "}\n",
                        "test.yaml", Library{{source_folder()}});
}

std::string kernel(const std::string& model, const std::string& cluster,
                   const std::string& more = "") {
  return read(model, cluster, more).training.attention;
}

std::string of_framework(const std::string& framework, const std::string& cluster) {
  return parse_scenario("framework: " + framework + "\nmodel: llama3-8b\ncluster: {base: " +
                            cluster + "}\ntraining: {sequence_length: 4096, global_batch: 8}\n",
                        "test.yaml", Library{{source_folder()}})
      .training.attention;
}

}  // namespace

TEST_CASE("without a framework the fastest kernel of the GPU's profile runs") {
  CHECK(kernel("llama3-8b", "dgx-h100") == "flash3");
  CHECK(kernel("llama3-8b", "dgx-a100-80") == "flash2");
  CHECK(kernel("llama3-8b", "dgx-b200") == "cudnn");
  CHECK(kernel("llama3-8b", "dgx-h100", ", attention: auto") == "flash3");
  CHECK(kernel("llama3-8b", "dgx-h100", ", attention: unfused") == "unfused");
}

TEST_CASE("PyTorch and Transformer Engine prefer cuDNN's kernels from Hopper on") {
  for (const char* framework : {"megatron", "pytorch-fsdp2", "pytorch-ddp", "deepspeed"}) {
    CAPTURE(framework);
    CHECK(of_framework(framework, "dgx-h100") == "cudnn");
    CHECK(of_framework(framework, "dgx-b200") == "cudnn");
    CHECK(of_framework(framework, "dgx-a100-80") == "flash2");
  }
}

TEST_CASE("attention is unfused where no kernel can compute it") {
  CHECK(kernel("llama3-8b", "dgx-1v", ", precision: fp16") == "unfused");
  CHECK(kernel("llama3-8b", "dgx-h100", ", precision: tf32") == "unfused");
  // FlashAttention takes no bias on the scores, cuDNN does.
  CHECK(kernel("t5-base", "dgx-a100-80") == "unfused");
  CHECK(kernel("t5-base", "dgx-h100") == "cudnn");
  CHECK(parse_scenario("model: resnet50\ncluster: dgx-h100\ntraining: {global_batch: 256}\n",
                       "test.yaml", Library{{source_folder()}})
            .training.attention == "unfused");
}

TEST_CASE("a resolved scenario names the kernel, and reads back as itself") {
  const Scenario scenario = read("llama3-8b", "dgx-h100");
  const std::string text = to_yaml(scenario);
  CHECK(text.find("attention: flash3") != std::string::npos);
  CHECK(to_yaml(parse_scenario(text, "test.yaml", Library{{source_folder()}})) == text);
}

TEST_CASE("a misspelt kernel is told what the GPU has, auto among it") {
  std::string error;
  try {
    (void)read("llama3-8b", "dgx-a100-80", ", attention: flash3");
  } catch (const UserError& mistake) {
    error = mistake.what();
  }
  CHECK(error.find("which has auto, unfused, eager, flash2, flash1") != std::string::npos);
}
