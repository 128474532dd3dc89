// The interaction of a DLRM: dot products between the vectors of a sample (Naumov et al. 2019,
// arXiv 1906.00091, section 2.1.3), with the kernels of facebookresearch/dlrm dlrm_s_pytorch.py,
// interact_features: join the vectors, multiply them with themselves, take the triangle below the
// diagonal, join it with the dense vector. Fused it is one kernel that reads the joined vectors
// (NVIDIA/DeepLearningExamples PyTorch/Recommendation/DLRM/dlrm/cuda_src/dot_based_interact), on
// tensor cores in tf32 and 16 bits.
//
// In fp32 its products are the threads' (dot_based_interact_fp32_fwd.cu and _bwd.cu), and what
// feeds them is shared memory, of which an SM reads 32 banks of 4 bytes a turn. Forward a thread
// makes one dot product, 4 multiply-adds for two loads of 16 bytes, which a warp makes by quarters:
// the row of the pair is mostly one for all, a turn a quarter; its columns are 8, that many rows of
// the tile apart, all in the same banks, 8 turns. 36 turns for 128 multiply-adds, for which the
// 64 lanes of an SM of V100 and A100 take 2. Backward a thread makes a column, one multiply-add for
// a load beside its neighbours' and one that all share: 2 turns for 32, for which the lanes take a
// half. Later GPUs have twice the lanes and the same banks, which is not told apart.
#include "sim/ops/layer/recommendation_layers.hpp"

namespace stepsim {
namespace {

/// The dense vector is multiplied with the others and goes on by itself: two gradients. As a slice
/// of what was exchanged it has the second one written among zeros (NVIDIA/DeepLearningExamples
/// PyTorch/Recommendation/DLRM/dlrm/model/distributed.py, from_bottom[:, 0, :]; pytorch/pytorch
/// aten/src/ATen/native/TensorShape.cpp, select_backward).
void add_dense_gradient(Items& items, const TableShare& share, double vectors, double dense) {
  if (share.first) {
    items.emplace_back(memory_bound("zeros", vectors));
    items.emplace_back(memory_bound("dense gradient", 2 * dense));
    items.emplace_back(memory_bound("sum of gradients", 3 * vectors));
  } else {
    items.emplace_back(memory_bound("sum of dense gradients", 3 * dense));
  }
}

constexpr double kFedForward = 2.0 / 36, kFedBackward = 0.5 / 2;

/// The fused kernel, which makes so many products of pairs, where no tensor cores do.
Launch fused(const char* name, const Pass& pass, double bytes, Flops products, double fed) {
  Launch launch = memory_bound(name, bytes);
  if (pass.precision != Precision::fp32 || pass.linear != Precision::fp32) return launch;
  auto& work = std::get<MemoryBound>(launch.work);
  work.products = products;
  work.fed = fed;
  return launch;
}

}  // namespace

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
  if (share.ranks > 1 && !share.first) op.forward.emplace_back(Join{});
  op.forward.emplace_back(memory_bound("join vectors", 2 * vectors));
  if (model.fused_interaction) {
    const double dense = one * static_cast<double>(model.dim);
    const Flops pairs{samples * static_cast<double>(features * (features - 1) * model.dim)};
    // A slice of what was exchanged is made contiguous (dot_based_interact_pytorch_types.cu).
    if (share.first) op.forward.emplace_back(memory_bound("dense vector", 2 * dense));
    op.forward.emplace_back(fused("interaction", pass, vectors + out, pairs, kFedForward));
    op.backward.emplace_back(
        fused("interaction backward", pass, 2 * vectors + out + dense, 2 * pairs, kFedBackward));
    add_dense_gradient(op.backward, share, vectors, dense);
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
  if (!share.first) start_vectors(op.backward, pass, model, share, true);
  op.output = Bytes{out};
  op.scratch = Bytes{2 * vectors};
  op.saved = Bytes{vectors};
  op.flops = Flops{2 * samples * static_cast<double>(features * features * model.dim)};
  return op;
}

Op binary_cross_entropy(const Pass& pass) {
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
