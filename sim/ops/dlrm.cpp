// A deep learning recommendation model as blocks: embedding tables, bottom MLP, interaction, top
// MLP.
//
// In the order of facebookresearch/dlrm dlrm_s_pytorch.py, parallel_forward: tables first, so that
// their vectors travel under the bottom MLP; backward the gradients of the vectors travel under the
// bottom MLP's. Where rank 0 alone has the bottom MLP it comes first there, all that goes to other
// ranks is exchanged behind it, and the gradients of both are made in the opposite order
// (NVIDIA/DeepLearningExamples PyTorch/Recommendation/DLRM/dlrm/nn/parts.py, DlrmBottom).
#include <numeric>

#include "sim/ops/blocks.hpp"
#include "sim/ops/layer/recommendation_layers.hpp"

namespace stepsim {
namespace {

void add(Block& block, Op op) {
  const OpDag::Vertex before = block.dag.ops.size();
  before == 0 ? block.dag.add(std::move(op), {}) : block.dag.add(std::move(op), {before - 1});
}

/// Linear layers with a ReLU behind each; the last of the top MLP has a sigmoid, in the loss.
Block mlp_block(const std::string& name, const Pass& pass, std::int64_t in,
                const std::vector<std::int64_t>& widths, bool ends_with_relu) {
  Block block{.name = name,
              .dag = {},
              .input = Bytes{pass.element() * static_cast<double>(pass.batch * in)}};
  for (std::size_t i = 0; i < widths.size(); ++i) {
    add(block, column_linear(pass, name + " " + std::to_string(i + 1), in, widths[i], true));
    if (i + 1 < widths.size() || ends_with_relu) add(block, activation(pass, widths[i], false));
    in = widths[i];
  }
  return block;
}

/// The bottom MLP of rank 0 for the samples of all, whose gradients nobody reduces.
Block bottom_of_first(Pass pass, const Dlrm& model) {
  pass.batch *= pass.replicas;
  Block block = mlp_block("bottom", pass, model.dense_features, model.bottom, true);
  for (Op& op : block.dag.ops) {
    op.expert = !op.parameters.empty();
    for (Item& item : op.backward) {
      if (auto* ready = std::get_if<GradientReady>(&item)) ready->expert = true;
    }
  }
  return block;
}

double mlp_parameters(std::int64_t in, const std::vector<std::int64_t>& widths) {
  std::int64_t sum = 0;
  for (const std::int64_t out : widths) {
    sum += (in + 1) * out;
    in = out;
  }
  return static_cast<double>(sum);
}

}  // namespace

BlockChain dlrm_blocks(const Dlrm& model, Pass pass, const Parallelism& split) {
  // Rows of 13 features and of 479 interactions are filled up to multiples of eight
  // (NVIDIA/DeepLearningExamples PyTorch/Recommendation/DLRM/dlrm/nn/interactions.py,
  // padding_size).
  pass.pads_rows = true;
  const TableShare share(model, pass, split);
  Block tables{.name = "embeddings", .dag = {}, .input = Bytes{0}};
  add(tables, embedding_bag(pass, model, share));
  Block interaction{.name = "interaction", .dag = {}, .input = Bytes{0}};
  add(interaction, dot_interaction(pass, model, share));
  Block top = mlp_block("top", pass, model.interactions(), model.top, false);
  add(top, binary_cross_entropy(pass));
  if (!share.first) {
    const Block bottom = mlp_block("bottom", pass, model.dense_features, model.bottom, true);
    return {{tables, bottom, interaction, top}, {0, 1, 2, 3}};
  }
  Block exchange{.name = "exchange", .dag = {}, .input = Bytes{0}}, of_first = exchange;
  add(exchange, vector_exchange(pass, model, share, false));
  add(of_first, vector_exchange(pass, model, share, share.on_first));
  BlockChain chain{{tables, exchange, interaction, top, bottom_of_first(pass, model), of_first},
                   {0, 1, 2, 3},
                   {4, 0, 5, 2, 3}};
  if (!share.on_first) std::erase(chain.first_chain, 0);
  return chain;
}

double parameter_count(const Dlrm& model) {
  const std::int64_t rows =
      std::accumulate(model.tables.begin(), model.tables.end(), std::int64_t{0});
  return static_cast<double>(rows * model.dim) +
         mlp_parameters(model.dense_features, model.bottom) +
         mlp_parameters(model.interactions(), model.top);
}

}  // namespace stepsim
