// What a loop over equal layers copies (JAX's lax.scan, compiled by XLA).
//
// What backward needs lies in arrays over all layers. Kernels of XLA's own write and read their
// part in place; those of libraries can do neither, so that outputs of products and of a fused
// attention are copied there, and back (NVIDIA/JAX-Toolbox
// rosetta/rosetta/projects/maxtext/README.md, 24.04: "extra copies introduced by DUS [...] when
// used in conjunction with custom NVIDIA kernels", and that the two flags against them are to be
// off). The output of a layer's last product goes into the sum that the loop carries, and that of a
// product that runs again is not kept. Slices of parameters and of their gradients are not counted.
//
// Nor is what a fused attention that runs again puts out, for policies of jax.checkpoint name the
// outputs that they keep, and products are other names than that (recompute_regions.cpp). So the
// projection's input is there again, where Megatron-LM's checkpoint of core attention keeps it.
#include <algorithm>
#include <iterator>

#include "sim/ops/blocks.hpp"

namespace stepsim {
namespace {

bool is_product(const Op& op) { return !op.parameters.empty() && op.flops > Flops{0}; }

std::vector<std::size_t> kept_outputs(const Block& block, const Training& training) {
  const Recomputation& again = training.recompute;
  const bool repeats_attention = again.repeats(RecomputeModule::attention);
  const bool repeats_mlp =
      again.repeats(RecomputeModule::mlp) || again.repeats(RecomputeModule::mlp_up);
  const bool keeps_attention = is_fused_attention(training.attention) && !repeats_attention &&
                               !again.repeats(RecomputeModule::core_attention);
  std::vector<std::size_t> kept, products;
  for (const Op* op : block.order()) {
    const auto index = static_cast<std::size_t>(op - block.dag.ops.data());
    if (is_product(*op)) products.push_back(index);
    if (op->core_attention && keeps_attention) kept.push_back(index);
  }
  if (!products.empty()) products.pop_back();
  std::erase_if(products, [&](std::size_t index) {
    const std::string& name = block.dag.ops[index].name;
    return (repeats_attention && name == "projection") || (repeats_mlp && name == "mlp up");
  });
  kept.insert(kept.end(), products.begin(), products.end());
  return kept;
}

/// What a fused attention puts out is not kept where it runs again.
void drop_output_of_attention(Block& block) {
  const std::vector<const Op*> ops = block.order();
  for (RecomputeRegion& region : block.regions) {
    if (region.module != RecomputeModule::core_attention) continue;
    const auto core = std::ranges::find(ops, &block.dag.ops[region.first]);
    const auto projection = std::find_if(
        core, ops.end(), [](const Op* op) { return op->name.ends_with("projection"); });
    if (projection == ops.end()) continue;
    region.before = static_cast<std::size_t>(*projection - block.dag.ops.data());
    region.dropped += (*projection)->saved_input;
    // An operand is quantised again, weights are not.
    std::ranges::copy_if((*projection)->forward, std::back_inserter(region.forward),
                         [](const Item& item) {
                           const auto* launch = std::get_if<Launch>(&item);
                           return launch != nullptr && launch->name.starts_with("projection cast");
                         });
  }
}

}  // namespace

void add_scan_copies(Block& block, const Training& training) {
  if (training.recompute.kind == Recompute::full) return;
  if (is_fused_attention(training.attention)) drop_output_of_attention(block);
  for (const std::size_t index : kept_outputs(block, training)) {
    Op& op = block.dag.ops[index];
    const double copy = 2 * op.output.bytes();
    op.forward.emplace_back(memory_bound(op.name + " into the loop's array", copy));
    const Item back = memory_bound(op.name + " out of the loop's array", copy);
    op.backward.insert(op.backward.begin(), back);
  }
}

}  // namespace stepsim
