// Makes operands of random numbers for a product.
#include "calib/cuda/matmul.hpp"

#include "calib/cuda/kernels.hpp"
#include "calib/cuda/product.hpp"
#include "sim/calibrate/measurement/memory_bytes.hpp"

namespace stepsim::calib::cuda {
namespace {

std::size_t padded(std::int64_t bytes) {
  return (static_cast<std::size_t>(bytes) + 255) / 256 * 256;
}

/// The sizes of the operands in elements, for all products of a batch together.
struct Sizes {
  std::int64_t weights, input, result;
};

Sizes sizes_of(const GemmPoint& p) {
  return {p.batch * p.n * p.k, p.batch * p.k * p.m, p.batch * p.n * p.m};
}

std::int64_t result_element(const GemmPoint& p) {
  return p.accumulate ? 4 : p.dtype == Precision::fp8 ? 2 : element_bytes(p.dtype);
}

}  // namespace

struct Matmul::Operation {
  Operation(const GemmPoint& p, int turns)
      : product(p),
        workspace(Product::kWorkspaceBytes),
        weights_bytes(padded(sizes_of(p).weights * element_bytes(p.dtype))),
        input_bytes(padded(sizes_of(p).input * element_bytes(p.dtype))),
        result_bytes(padded(sizes_of(p).result * result_element(p))),
        operands(static_cast<std::size_t>(turns) * set_bytes()) {
    fill(p, turns);
  }
  std::size_t set_bytes() const { return weights_bytes + input_bytes + result_bytes; }

  void fill(const GemmPoint& p, int turns) const {
    const Sizes sizes = sizes_of(p);
    const Precision of_result = p.accumulate                ? Precision::fp32
                                : p.dtype == Precision::fp8 ? Precision::bf16
                                                            : p.dtype;
    for (int turn = 0; turn < turns; ++turn) {
      const auto seed = static_cast<std::uint64_t>(3 * turn);
      char* set = operands.data() + static_cast<std::size_t>(turn) * set_bytes();
      fill_random(set, p.dtype, sizes.weights, seed, nullptr);
      fill_random(set + weights_bytes, p.dtype, sizes.input, seed + 1, nullptr);
      fill_random(set + weights_bytes + input_bytes, of_result, sizes.result, seed + 2, nullptr);
    }
    cuda::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }

  Product product;
  DeviceBuffer workspace;
  std::size_t weights_bytes, input_bytes, result_bytes;
  DeviceBuffer operands;
};

Matmul::Matmul(const GemmPoint& point, int turns)
    : turns_(turns), operation_(std::make_unique<Operation>(point, turns)) {}

Matmul::~Matmul() = default;

void Matmul::enqueue(cudaStream_t stream, int turn) const {
  const Operation& op = *operation_;
  char* const weights = op.operands.data() + static_cast<std::size_t>(turn) * op.set_bytes();
  char* const input = weights + op.weights_bytes;
  op.product.enqueue(stream, weights, input, input + op.input_bytes, op.workspace.data());
}

Batch Matmul::batch() const {
  return [this](cudaStream_t stream, int count) {
    for (int i = 0; i < count; ++i) enqueue(stream, i % turns_);
  };
}

}  // namespace stepsim::calib::cuda
