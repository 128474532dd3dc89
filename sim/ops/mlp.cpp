// A stack of equal linear layers: the simplest model on which gradient buckets can be studied.
#include "sim/ops/blocks.hpp"
#include "sim/ops/layer/layers.hpp"

namespace stepsim {

std::vector<Block> mlp_blocks(const Mlp& model, const Pass& pass) {
  const Bytes input{pass.element() * static_cast<double>(pass.batch * model.width)};
  Block layer{.name = "layer", .dag = {}, .input = input, .recomputable = true};
  const auto linear =
      layer.dag.add(column_linear(pass, "linear", model.width, model.width, model.bias), {});
  layer.dag.add(activation(pass, model.width, false), {linear});
  Block head{.name = "head", .dag = {}, .input = input};
  head.dag.add(squared_error(pass, model.width), {});
  return {layer, head};
}

}  // namespace stepsim
