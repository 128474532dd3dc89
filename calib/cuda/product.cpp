// Descriptors and the algorithm of a matrix product.
//
// cuBLAS counts columns first. A row-major C[m,n] is an n x m matrix to cuBLAS, the product of an n
// x k matrix (our B, the weights) and a k x m matrix (our A). The letters of `Transpose` belong to
// these two.
#include "calib/cuda/product.hpp"

#include <bit>
#include <type_traits>

#include <cublasLt.h>
#include <fmt/format.h>

#include "calib/cuda/check.hpp"
#include "calib/harness/not_offered.hpp"

namespace stepsim::calib::cuda {
namespace {

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string text = fmt::format("{}: {}", call, cublasLtGetStatusString(status));
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE)
    throw NotOffered(text);
  throw CudaFailure(text);
}

struct Types {
  cudaDataType operand, result;
  cublasComputeType_t compute;
};

Types types_of(const GemmPoint& point) {
  const auto result = [&](cudaDataType usual) { return point.accumulate ? CUDA_R_32F : usual; };
  switch (point.dtype) {
    case Precision::bf16:
      return {CUDA_R_16BF, result(CUDA_R_16BF), CUBLAS_COMPUTE_32F};
    case Precision::fp16:
      return {CUDA_R_16F, result(CUDA_R_16F), CUBLAS_COMPUTE_32F};
    case Precision::tf32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case Precision::fp32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case Precision::fp8:
      return {CUDA_R_8F_E4M3, result(CUDA_R_16BF), CUBLAS_COMPUTE_32F};
    case Precision::nvfp4:
      break;
  }
  throw NotOffered("the harness does not know this precision");
}

class Layout {
 public:
  Layout(cudaDataType type, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
    check(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), rows),
          "cublasLtMatrixLayoutCreate");
    const auto count = static_cast<std::int32_t>(batch);
    const std::int64_t offset = rows * columns;
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &offset, sizeof offset);
  }
  ~Layout() { (void)cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  // NOLINTNEXTLINE(google-explicit-constructor): it is handed to cuBLASLt's functions
  operator cublasLtMatrixLayout_t() const { return layout_; }

 private:
  void set(cublasLtMatrixLayoutAttribute_t which, const void* value, std::size_t size) {
    check(cublasLtMatrixLayoutSetAttribute(layout_, which, value, size),
          "cublasLtMatrixLayoutSetAttribute");
  }
  cublasLtMatrixLayout_t layout_ = nullptr;
};

struct Destroy {
  void operator()(cublasLtHandle_t handle) const { (void)cublasLtDestroy(handle); }
  void operator()(cublasLtMatmulDesc_t description) const {
    (void)cublasLtMatmulDescDestroy(description);
  }
};

bool transposed_weights(const GemmPoint& p) { return p.transpose == Transpose::TN; }
bool transposed_input(const GemmPoint& p) { return p.transpose == Transpose::NT; }

}  // namespace

struct Product::Operation {
  Operation(const GemmPoint& p, const Alignments& alignments)
      : types(types_of(p)),
        weights(types.operand, transposed_weights(p) ? p.k : p.n, transposed_weights(p) ? p.n : p.k,
                p.batch),
        input(types.operand, transposed_input(p) ? p.m : p.k, transposed_input(p) ? p.k : p.m,
              p.batch),
        result(types.result, p.n, p.m, p.batch),
        beta(p.accumulate ? 1.0f : 0.0f) {
    cublasLtHandle_t new_handle = nullptr;
    check(cublasLtCreate(&new_handle), "cublasLtCreate");
    handle.reset(new_handle);
    cublasLtMatmulDesc_t new_description = nullptr;
    check(cublasLtMatmulDescCreate(&new_description, types.compute, CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    description.reset(new_description);
    describe(p);
    choose_algorithm(alignments);
  }

  void set(cublasLtMatmulDescAttributes_t which, const void* value, std::size_t size) const {
    check(cublasLtMatmulDescSetAttribute(description.get(), which, value, size),
          "cublasLtMatmulDescSetAttribute");
  }

  void describe(const GemmPoint& p) const {
    const cublasOperation_t of_weights = transposed_weights(p) ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t of_input = transposed_input(p) ? CUBLAS_OP_T : CUBLAS_OP_N;
    set(CUBLASLT_MATMUL_DESC_TRANSA, &of_weights, sizeof of_weights);
    set(CUBLASLT_MATMUL_DESC_TRANSB, &of_input, sizeof of_input);
    if (p.dtype != Precision::fp8) return;
    const std::int8_t fast = 1;  // Transformer Engine runs forward passes with fast accumulation
    set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast);
  }

  void choose_algorithm(const Alignments& alignments) {
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
      (void)cublasLtMatmulPreferenceSetAttribute(preference, which, &value, sizeof value);
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignments.weights);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignments.input);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignments.result);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignments.result);
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle.get(), description.get(), weights, input, result,
                                       result, preference, 1, &algorithm, &found);
    (void)cublasLtMatmulPreferenceDestroy(preference);
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) throw NotOffered("cuBLASLt has no algorithm for it");
  }

  Types types;
  Layout weights, input, result;
  float beta;
  std::unique_ptr<std::remove_pointer_t<cublasLtHandle_t>, Destroy> handle;
  std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>, Destroy> description;
  cublasLtMatmulHeuristicResult_t algorithm = {};
};

std::uint32_t alignment_of(const void* address) {
  constexpr std::uintptr_t kMost = 256;
  const auto place = reinterpret_cast<std::uintptr_t>(address) | kMost;
  return std::uint32_t{1} << std::countr_zero(place);
}

Product::Product(const GemmPoint& point, const Alignments& alignments)
    : operation_(std::make_unique<Operation>(point, alignments)) {}

Product::~Product() = default;

void Product::enqueue(cudaStream_t stream, const void* weights, const void* input, void* result,
                      void* workspace) const {
  const Operation& op = *operation_;
  const float alpha = 1;
  check(cublasLtMatmul(op.handle.get(), op.description.get(), &alpha, weights, op.weights, input,
                       op.input, &op.beta, result, op.result, result, op.result, &op.algorithm.algo,
                       workspace, kWorkspaceBytes, stream),
        "cublasLtMatmul");
}

}  // namespace stepsim::calib::cuda
