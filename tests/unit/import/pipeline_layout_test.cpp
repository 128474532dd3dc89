// Layouts of pipelines as Megatron-LM writes them.
#include "sim/import/megatron/pipeline_layout.hpp"

#include <algorithm>

#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

using Layers = std::vector<std::int64_t>;

std::string script_with(const std::string& layout) {
  return "torchrun --nproc_per_node 4 pretrain_gpt.py --num-layers 16 --hidden-size 2048 "
         "--num-attention-heads 16 --vocab-size 32000 --seq-length 2048 --micro-batch-size 1 "
         "--global-batch-size 16 --pipeline-model-parallel-size 4 "
         "--pipeline-model-parallel-layout '" +
         layout + "'\n";
}

}  // namespace

TEST_CASE("a layout says the layers of each part") {
  CHECK(layers_of_layout("Et*3|tt|t*2|tL") == Layers{3, 2, 2, 1});
  CHECK(layers_of_layout("E|t*3|t*3|L") == Layers{0, 3, 3, 0});
  const auto deepseek = layers_of_layout("Ettt|(tt|)*29,m|L");
  REQUIRE(deepseek);
  CHECK(deepseek->size() == 32);
  CHECK(std::count(deepseek->begin(), deepseek->end(), 2) == 29);
  CHECK(deepseek->front() == 3);
}

TEST_CASE("what is no layout has no layers") {
  for (const char* text : {"Ex|L", "(t|", "t**2", "Et*999999999|L", "[[embedding, decoder]]",
                           "LEt*24|||", "t*4|t*4L", "Et*4|t*4", "Et|tL|tL"}) {
    INFO(text);
    CHECK(!layers_of_layout(text));
  }
}

TEST_CASE("a layout of a script is the scenario's, or refused with what stands in the way") {
  const Pipeline one =
      import_of("train.sh", script_with("Et*3|t*5|t*5|t*3L")).scenario.parallelism.pipeline;
  CHECK(one.layers == Layers{3, 5, 5, 3});
  const Pipeline two =
      import_of("train.sh", script_with("Et|tt|tt|tt|tt|tt|tt|t*3L")).scenario.parallelism.pipeline;
  CHECK(two.chunks == 2);
  CHECK(two.schedule == "interleaved");
  const Pipeline ends =
      import_of("train.sh", script_with("E|t*8|t*8|L")).scenario.parallelism.pipeline;
  CHECK(ends.layers == Layers{0, 8, 8, 0});
  CHECK(refusal_of("train.sh", script_with("Et*8|t*7|tL")).find("no multiple of 4 stages") !=
        std::string::npos);
}
