// The kinds of model: how each becomes blocks, and how many parameters it has.
#pragma once

#include <map>
#include <vector>

#include "sim/ops/layer/layers.hpp"
#include "sim/ops/op_graph.hpp"

namespace stepsim {

/// Distinct blocks, and the model from input to loss as indices into them.
struct BlockChain {
  std::vector<Block> blocks;
  std::vector<std::size_t> chain;
  /// chain of rank 0, where it differs from the others'
  std::vector<std::size_t> first_chain = {};
  std::map<std::size_t, std::size_t> without_copy = {};  ///< as OpGraph's
};

/// Appends a block, and as many places in the chain.
void append(BlockChain& model, Block block, std::int64_t times = 1);

/// Embedding, one layer, head; a model with experts has two kinds of layers where the leading ones
/// are dense, and so has one with an encoder before its decoder.
BlockChain transformer_blocks(const Scenario& scenario, const Transformer& model, const Pass& pass);
/// Whether the model's last part uses the word embedding, too.
bool shares_embedding(const Transformer& model);

/// Adds the copies of a loop over layers like this one.
void add_scan_copies(Block& block, const Training& training);

/// What selective recompute can drop of a transformer's layer.
std::vector<RecomputeRegion> recompute_regions(const Block& block);

/// One layer, loss.
std::vector<Block> mlp_blocks(const Mlp& model, const Pass& pass);

/// Stem, for each stage the first bottleneck block and the others, head.
BlockChain resnet_blocks(const ResNet& model, const Pass& pass);

/// Embedding tables, bottom MLP, interaction, top MLP; of the tables and the bottom MLP what each
/// rank has, and the exchange behind them.
BlockChain dlrm_blocks(const Dlrm& model, Pass pass, const Parallelism& split);

/// Parameters of the whole model, unpadded, as papers count them.
double parameter_count(const Transformer& model);
/// Weights of the norms of queries and keys in one attention: one for each number of a head, which
/// all heads share, or one for each number of all heads.
std::int64_t qk_norm_size(const Transformer& model);
/// REQUIRES: the model is a diffusion transformer.
double diffusion_parameters(const Transformer& model);
double parameter_count(const VisionTower& tower, std::int64_t decoder_hidden);
double parameter_count(const Mlp& model);
double parameter_count(const ResNet& model);
double parameter_count(const Dlrm& model);
double parameter_count(const Model& model);

/// The parameters that one token goes through: without the experts that it is not sent to.
double active_parameter_count(const Transformer& model);

}  // namespace stepsim
