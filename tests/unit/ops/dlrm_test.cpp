// DLRM: parameters, FLOPs and the order of its blocks.
#include <fmt/format.h>

#include "sim/ops/blocks.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

const std::string kOne =
    "cluster: {name: c, gpu: a100-80, gpus_per_node: 1}\n"
    "training: {global_batch: 64, micro_batch: 64, precision: fp16}\n";

}  // namespace

TEST_CASE("the DLRM of MLPerf has 24 billion parameters, nearly all in its tables") {
  // 187,767,399 rows of 128, and two MLPs: 13-512-256-128 and 479-1024-1024-512-256-1.
  const Model model = load_model("dlrm-criteo-1tb", Library{{source_folder()}});
  const double bottom = 14 * 512 + 513 * 256 + 257 * 128;
  const double top = 480 * 1024 + 1025 * 1024 + 1025 * 512 + 513 * 256 + 257;
  CHECK(std::get<Dlrm>(model.shape).tables.size() == 26);
  CHECK(std::get<Dlrm>(model.shape).interactions() == 479);
  CHECK(parameter_count(model) == 187'767'399.0 * 128 + bottom + top);
  const OpGraph graph = build(scenario_of("model: dlrm-criteo-1tb\n" + kOne));
  double dense = 0;
  for (const Block& block : graph.blocks) dense += block.parameters();
  CHECK(dense == bottom + top);
  CHECK(graph.blocks.front().tables().bytes() == 187'767'399.0 * 128 * 4);
}

TEST_CASE("a DLRM's FLOPs are those of its MLPs and of the dot products") {
  const OpGraph graph = build(scenario_of("model: dlrm-criteo-1tb\n" + kOne));
  const double bottom = 13 * 512 + 512 * 256 + 256 * 128;
  const double top = 479 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256;
  const double dots = 27 * 27 * 128;
  CHECK(graph.model_flops.flops() == nine_digits(3 * 2 * 64 * (bottom + top + dots)));
}

TEST_CASE("tables come first, so that their vectors travel under the bottom MLP") {
  const OpGraph graph = build(scenario_of("model: dlrm-criteo-1tb\n" + kOne));
  std::vector<std::string> names;
  for (const std::size_t index : graph.chain) names.push_back(graph.blocks[index].name);
  CHECK(names == std::vector<std::string>{"embeddings", "bottom", "interaction", "top"});
}

namespace {

std::vector<std::string> names_of(const OpGraph& graph, const std::vector<std::size_t>& chain) {
  std::vector<std::string> names;
  for (const std::size_t index : chain) names.push_back(graph.blocks[index].name);
  return names;
}

OpGraph on(int gpus, const std::string& bottom_mlp) {
  return build(scenario_of(
      fmt::format("model: dlrm-criteo-1tb\ncluster: {{base: dgx-a100-80, gpus_per_node: {0}}}\n"
                  "training: {{global_batch: {1}, micro_batch: 64, precision: fp16}}\n"
                  "parallelism: {{bottom_mlp: {2}}}\n",
                  gpus, 64 * gpus, bottom_mlp)));
}

}  // namespace

TEST_CASE("a bottom MLP on the first rank is there alone, and tables are on the others") {
  const OpGraph graph = on(8, "first");
  CHECK(names_of(graph, graph.first_chain) ==
        std::vector<std::string>{"bottom", "exchange", "interaction", "top"});
  CHECK(names_of(graph, graph.chain) ==
        std::vector<std::string>{"embeddings", "exchange", "interaction", "top"});
}

TEST_CASE("of four ranks the first has tables beside the bottom MLP, of five none") {
  const OpGraph four = on(4, "first"), five = on(5, "first");
  CHECK(names_of(four, four.first_chain) ==
        std::vector<std::string>{"bottom", "embeddings", "exchange", "interaction", "top"});
  CHECK(names_of(five, five.first_chain).at(1) == "exchange");
}

TEST_CASE("the graph of the first rank has its chain, and knows the others'") {
  const OpGraph graph = on(8, "first"), first = graph_of_first(graph);
  CHECK(first.of_first);
  CHECK(first.chain == graph.first_chain);
  CHECK(first.first_chain == graph.chain);
}

TEST_CASE("wherever the bottom MLP is it has the same FLOPs, and one rank has it anyway") {
  CHECK(on(8, "first").model_flops.flops() == nine_digits(on(8, "each").model_flops.flops()));
  const OpGraph one = on(1, "first");
  CHECK(one.first_chain.empty());
  CHECK(names_of(one, one.chain).at(1) == "bottom");
}

TEST_CASE("what the first rank alone has belongs to no group") {
  const OpGraph first = graph_of_first(on(8, "first"));
  const Block& bottom = first.blocks[first.chain.front()];
  CHECK(bottom.parameters() == 14 * 512 + 513 * 256 + 257 * 128);
  CHECK(bottom.expert_parameters() == bottom.parameters());
}
