// The interaction of a DLRM: dot products between the vectors of a sample (Naumov et al. 2019,
// arXiv 1906.00091, section 2.1.3), with the kernels of facebookresearch/dlrm dlrm_s_pytorch.py,
// interact_features: join the vectors, multiply them with themselves, take the triangle below the
// diagonal, join it with the dense vector. Fused it is one kernel that reads the joined vectors
// (NVIDIA/DeepLearningExamples PyTorch/Recommendation/DLRM/dlrm/cuda_src/dot_based_interact), taken
// to move bytes only: 12 GFLOP for 65536 samples are little beside 1 GB in fp32.
#include "sim/ops/layer/recommendation_layers.hpp"

namespace stepsim {

Op dot_interaction(const Pass& pass, const Dlrm& model, const TableShare& share) {
  const auto features = static_cast<std::int64_t>(model.tables.size()) + 1;
  const auto samples = static_cast<double>(pass.batch);
  const double one = pass.element() * samples;
  const double vectors = one * static_cast<double>(features * model.dim);
  const double products = one * static_cast<double>(features * features);
  const double out = one * static_cast<double>(model.interactions());
  const double triangle = out - one * static_cast<double>(model.dim);
  const auto product = [&](const char* name, std::int64_t n, std::int64_t k) {
    return gemm(name, pass, features, n, k, false, pass.batch);
  };
  Op op;
  op.name = "interaction";
  if (share.ranks > 1) op.forward.emplace_back(Join{});
  op.forward.emplace_back(memory_bound("join vectors", 2 * vectors));
  if (model.fused_interaction) {
    const double dense = one * static_cast<double>(model.dim);
    op.forward.emplace_back(memory_bound("interaction", vectors + out));
    op.backward.emplace_back(memory_bound("interaction backward", 2 * vectors + out + dense));
    op.backward.emplace_back(memory_bound("sum of dense gradients", 3 * dense));
  } else {
    op.forward.emplace_back(product("dot products", features, model.dim));
    op.forward.emplace_back(memory_bound("lower triangle", products + triangle));
    op.forward.emplace_back(memory_bound("join with dense vector", 2 * out));
    op.backward.emplace_back(memory_bound("split dense vector", 2 * out));
    op.backward.emplace_back(memory_bound("lower triangle backward", triangle + 2 * products));
    // Both factors are the same vectors: two gradients and their sum.
    op.backward.emplace_back(product("dot products dgrad", model.dim, features));
    op.backward.emplace_back(product("dot products dgrad", model.dim, features));
    op.backward.emplace_back(memory_bound("sum of gradients", 3 * vectors));
  }
  op.backward.emplace_back(memory_bound("split vectors", 2 * vectors));
  start_vectors(op.backward, pass, model, share, true);
  op.output = Bytes{out};
  op.scratch = Bytes{2 * vectors};
  op.saved = Bytes{vectors};
  op.flops = Flops{2 * samples * static_cast<double>(features * features * model.dim)};
  return op;
}

Op binary_cross_entropy(const Pass& pass) {
  constexpr double kFp32 = 4;
  const auto samples = static_cast<double>(pass.batch);
  Op op;
  op.name = "binary cross entropy";
  op.forward.emplace_back(memory_bound("sigmoid", 2 * pass.element() * samples));
  op.forward.emplace_back(
      memory_bound("binary cross entropy", 3 * kFp32 * samples, MemoryRate::loss));
  op.backward.emplace_back(
      memory_bound("binary cross entropy backward", 3 * kFp32 * samples, MemoryRate::loss));
  op.backward.emplace_back(memory_bound("sigmoid backward", 3 * pass.element() * samples));
  op.saved = Bytes{(pass.element() + kFp32) * samples};
  op.loss = true;
  return op;
}

}  // namespace stepsim
