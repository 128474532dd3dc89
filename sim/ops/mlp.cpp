// A stack of equal linear layers: the simplest model on which gradient buckets can be studied.
#include <boost/graph/adjacency_list.hpp>

#include "sim/ops/blocks.hpp"
#include "sim/ops/layer/layers.hpp"

namespace stepsim {

std::vector<Block> mlp_blocks(const Mlp& model, const Pass& pass) {
  const Bytes input{pass.element() * static_cast<double>(pass.batch * model.width)};
  Block layer{.name = "layer", .dag = {}, .input = input, .recomputable = true};
  const auto linear = boost::add_vertex(
      column_linear(pass, "linear", model.width, model.width, model.bias), layer.dag);
  const auto relu = boost::add_vertex(activation(pass, model.width, false), layer.dag);
  boost::add_edge(linear, relu, layer.dag);
  Block head{.name = "head", .dag = {}, .input = input};
  boost::add_vertex(squared_error(pass, model.width), head.dag);
  return {layer, head};
}

}  // namespace stepsim
