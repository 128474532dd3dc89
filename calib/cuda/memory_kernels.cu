// Kernels that move bytes, 16 at a time. Element-wise kernels stride over the tensor; kernels over
// rows keep a row in the registers of a block. Each byte is read and written once.
#include <algorithm>

#include <cuda_bf16.h>

#include "calib/cuda/check.hpp"
#include "calib/cuda/kernels.hpp"
#include "calib/harness/not_offered.hpp"

namespace stepsim::calib::cuda {
namespace {

constexpr int kThreads = 256;
/// The 16-byte pieces of a row that one thread holds.
constexpr int kPieces = 4;
constexpr int kMostThreads = 512;

__device__ float to_float(float x) { return x; }
__device__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void set(float& out, float x) { out = x; }
__device__ void set(__nv_bfloat16& out, float x) { out = __float2bfloat16(x); }

/// Elements that fill 16 bytes.
template <class T>
struct alignas(16) Piece {
  static constexpr int kSize = 16 / sizeof(T);
  T at[kSize];
};

/// One byte for each element of a piece.
template <class T>
struct alignas(Piece<T>::kSize) Mask {
  std::uint8_t at[Piece<T>::kSize];
};

__device__ std::int64_t first_index() {
  return blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
}
__device__ std::int64_t stride() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

template <class T>
__global__ void copy(const Piece<T>* in, Piece<T>* out, std::int64_t pieces) {
  for (std::int64_t i = first_index(); i < pieces; i += stride()) out[i] = in[i];
}

template <class T>
__global__ void add(const Piece<T>* a, const Piece<T>* b, Piece<T>* out, std::int64_t pieces) {
  for (std::int64_t i = first_index(); i < pieces; i += stride()) {
    const Piece<T> x = a[i], y = b[i];
    Piece<T> z;
    for (int j = 0; j < Piece<T>::kSize; ++j) set(z.at[j], to_float(x.at[j]) + to_float(y.at[j]));
    out[i] = z;
  }
}

/// Joins a value of each thread over a block, as a sum or a maximum; every thread gets the result.
template <class Join>
__device__ float over_block(float value, Join join, float neutral) {
  __shared__ float of_warp[32];
  __syncthreads();  // an earlier result may still be read
  for (int offset = 16; offset > 0; offset /= 2)
    value = join(value, __shfl_xor_sync(0xffffffff, value, offset));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  const unsigned warps = (blockDim.x + 31) / 32;
  value = threadIdx.x % 32 < warps ? of_warp[threadIdx.x % 32] : neutral;
  for (int offset = 16; offset > 0; offset /= 2)
    value = join(value, __shfl_xor_sync(0xffffffff, value, offset));
  return value;
}

__device__ float block_sum(float value) {
  return over_block(
      value, [](float a, float b) { return a + b; }, 0.0f);
}
__device__ float block_max(float value) {
  return over_block(
      value, [](float a, float b) { return fmaxf(a, b); }, -INFINITY);
}

template <class T>
__global__ void sum(const Piece<T>* in, float* out, std::int64_t pieces) {
  float total = 0;
  for (std::int64_t i = first_index(); i < pieces; i += stride()) {
    const Piece<T> x = in[i];
    for (int j = 0; j < Piece<T>::kSize; ++j) total += to_float(x.at[j]);
  }
  total = block_sum(total);
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

/// Drops elements by a hash of two rounds in place of Philox's ten, so that memory stays the limit.
template <class T>
__global__ void dropout(const Piece<T>* in, Piece<T>* out, Mask<T>* mask, std::int64_t pieces) {
  constexpr float kKeep = 0.9f;
  for (std::int64_t i = first_index(); i < pieces; i += stride()) {
    const Piece<T> x = in[i];
    Piece<T> y;
    Mask<T> kept;
    for (int j = 0; j < Piece<T>::kSize; ++j) {
      std::uint32_t bits = static_cast<std::uint32_t>(i * Piece<T>::kSize + j) * 0x9e3779b9u;
      bits = (bits ^ (bits >> 16)) * 0x85ebca6bu;
      bits ^= bits >> 13;
      kept.at[j] = static_cast<float>(bits) < kKeep * 4294967296.0f;
      set(y.at[j], kept.at[j] != 0 ? to_float(x.at[j]) / kKeep : 0.0f);
    }
    out[i] = y;
    mask[i] = kept;
  }
}

/// Computes (x - mean) / deviation for each row.
template <class T>
__global__ void norm(const Piece<T>* in, Piece<T>* out, int row_pieces) {
  const Piece<T>* row = in + static_cast<std::int64_t>(blockIdx.x) * row_pieces;
  Piece<T>* result = out + static_cast<std::int64_t>(blockIdx.x) * row_pieces;
  Piece<T> held[kPieces];
  float total = 0, squares = 0;
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    const int i = threadIdx.x + p * blockDim.x;
    if (i >= row_pieces) continue;
    held[p] = row[i];
    for (int j = 0; j < Piece<T>::kSize; ++j) {
      const float x = to_float(held[p].at[j]);
      total += x;
      squares += x * x;
    }
  }
  const float columns = static_cast<float>(row_pieces) * Piece<T>::kSize;
  const float mean = block_sum(total) / columns;
  const float scale = rsqrtf(fmaxf(block_sum(squares) / columns - mean * mean, 0.0f) + 1e-5f);
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    const int i = threadIdx.x + p * blockDim.x;
    if (i >= row_pieces) continue;
    Piece<T> y;
    for (int j = 0; j < Piece<T>::kSize; ++j)
      set(y.at[j], (to_float(held[p].at[j]) - mean) * scale);
    result[i] = y;
  }
}

template <class T>
__global__ void softmax(const Piece<T>* in, Piece<T>* out, int row_pieces) {
  const Piece<T>* row = in + static_cast<std::int64_t>(blockIdx.x) * row_pieces;
  Piece<T>* result = out + static_cast<std::int64_t>(blockIdx.x) * row_pieces;
  Piece<T> held[kPieces];
  float largest = -INFINITY;
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    const int i = threadIdx.x + p * blockDim.x;
    if (i >= row_pieces) continue;
    held[p] = row[i];
    for (int j = 0; j < Piece<T>::kSize; ++j) largest = fmaxf(largest, to_float(held[p].at[j]));
  }
  largest = block_max(largest);
  float total = 0;
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    if (static_cast<int>(threadIdx.x + p * blockDim.x) >= row_pieces) continue;
    for (int j = 0; j < Piece<T>::kSize; ++j) total += __expf(to_float(held[p].at[j]) - largest);
  }
  total = block_sum(total);
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    const int i = threadIdx.x + p * blockDim.x;
    if (i >= row_pieces) continue;
    Piece<T> y;
    for (int j = 0; j < Piece<T>::kSize; ++j)
      set(y.at[j], __expf(to_float(held[p].at[j]) - largest) / total);
    result[i] = y;
  }
}

/// Computes the logarithm of the sum of exponentials in one pass: a thread that meets a larger
/// element scales what it has summed up.
template <class T>
__global__ void log_sum_exp(const Piece<T>* in, float* out, int row_pieces) {
  const Piece<T>* row = in + static_cast<std::int64_t>(blockIdx.x) * row_pieces;
  float largest = -INFINITY, total = 0;
  for (int i = threadIdx.x; i < row_pieces; i += blockDim.x) {
    const Piece<T> x = row[i];
    float here = to_float(x.at[0]);
    for (int j = 1; j < Piece<T>::kSize; ++j) here = fmaxf(here, to_float(x.at[j]));
    const float now = fmaxf(largest, here);
    total *= __expf(largest - now);
    for (int j = 0; j < Piece<T>::kSize; ++j) total += __expf(to_float(x.at[j]) - now);
    largest = now;
  }
  const float overall = block_max(largest);
  total = block_sum(total == 0 ? 0.0f : total * __expf(largest - overall));
  if (threadIdx.x == 0) out[blockIdx.x] = overall + __logf(total);
}

/// Updates by Adam (Kingma and Ba 2015, algorithm 1). The step's corrections are left out, because
/// they are constants.
__global__ void adam(float4* parameter, const float4* gradient, float4* first, float4* second,
                     std::int64_t pieces) {
  constexpr float kBeta1 = 0.9f, kBeta2 = 0.95f, kRate = 1e-6f, kEpsilon = 1e-8f;
  const auto step = [](float& p, float g, float& m, float& v) {
    m = kBeta1 * m + (1 - kBeta1) * g;
    v = kBeta2 * v + (1 - kBeta2) * g * g;
    p -= kRate * m / (sqrtf(v) + kEpsilon);
  };
  for (std::int64_t i = first_index(); i < pieces; i += stride()) {
    float4 p = parameter[i], m = first[i], v = second[i];
    const float4 g = gradient[i];
    step(p.x, g.x, m.x, v.x);
    step(p.y, g.y, m.y, v.y);
    step(p.z, g.z, m.z, v.z);
    step(p.w, g.w, m.w, v.w);
    parameter[i] = p;
    first[i] = m;
    second[i] = v;
  }
}

unsigned blocks_for(std::int64_t pieces) {
  return static_cast<unsigned>(std::min<std::int64_t>((pieces + kThreads - 1) / kThreads, 65535));
}

/// The threads for a row: a warp at least, and as few as hold the row.
unsigned threads_for(std::int64_t row_pieces) {
  return static_cast<unsigned>(std::min<std::int64_t>((row_pieces + 31) / 32 * 32, kMostThreads));
}

template <class T>
void launch_rows(MemoryOp op, const MemoryBuffers& buffers, std::int64_t rows, std::int64_t columns,
                 cudaStream_t stream) {
  const auto* in = static_cast<const Piece<T>*>(buffers.in);
  auto* out = static_cast<Piece<T>*>(buffers.out);
  const std::int64_t pieces = columns / Piece<T>::kSize;
  if (op != MemoryOp::cross_entropy && pieces > kPieces * kMostThreads)
    throw NotOffered("the rows are wider than the kernel's registers");
  const unsigned blocks = static_cast<unsigned>(rows), threads = threads_for(pieces);
  const int row_pieces = static_cast<int>(pieces);
  if (op == MemoryOp::norm) {
    norm<<<blocks, threads, 0, stream>>>(in, out, row_pieces);
  } else if (op == MemoryOp::softmax) {
    softmax<<<blocks, threads, 0, stream>>>(in, out, row_pieces);
  } else {
    log_sum_exp<<<blocks, threads, 0, stream>>>(in, static_cast<float*>(buffers.out), row_pieces);
  }
}

template <class T>
void launch_as(MemoryOp op, const MemoryBuffers& buffers, std::int64_t rows, std::int64_t columns,
               cudaStream_t stream) {
  const auto* in = static_cast<const Piece<T>*>(buffers.in);
  auto* out = static_cast<Piece<T>*>(buffers.out);
  const std::int64_t pieces = rows * columns / Piece<T>::kSize;
  const unsigned blocks = blocks_for(pieces);
  switch (op) {
    case MemoryOp::copy:
      copy<<<blocks, kThreads, 0, stream>>>(in, out, pieces);
      break;
    case MemoryOp::add: {
      const auto* second = static_cast<const Piece<T>*>(buffers.second);
      add<<<blocks, kThreads, 0, stream>>>(in, second, out, pieces);
      break;
    }
    case MemoryOp::sum:
      sum<<<std::min(blocks, 4096u), kThreads, 0, stream>>>(in, static_cast<float*>(buffers.out),
                                                            pieces);
      break;
    case MemoryOp::dropout:
      dropout<<<blocks, kThreads, 0, stream>>>(in, out, static_cast<Mask<T>*>(buffers.mask),
                                               pieces);
      break;
    case MemoryOp::norm:
    case MemoryOp::softmax:
    case MemoryOp::cross_entropy:
      launch_rows<T>(op, buffers, rows, columns, stream);
      break;
    case MemoryOp::adam:
      adam<<<blocks, kThreads, 0, stream>>>(static_cast<float4*>(buffers.parameter),
                                            static_cast<const float4*>(buffers.gradient),
                                            static_cast<float4*>(buffers.first_moment),
                                            static_cast<float4*>(buffers.second_moment), pieces);
      break;
    case MemoryOp::relu:
    case MemoryOp::squared_error:
      throw NotOffered("loops of a CPU's training step");
  }
}

}  // namespace

void launch_memory(MemoryOp op, Precision dtype, const MemoryBuffers& buffers, std::int64_t rows,
                   std::int64_t columns, cudaStream_t stream) {
  if (columns % 8 != 0) throw NotOffered("the rows are not a multiple of 16 bytes");
  if (dtype == Precision::bf16 && op != MemoryOp::adam) {
    launch_as<__nv_bfloat16>(op, buffers, rows, columns, stream);
  } else if (dtype == Precision::fp32) {
    launch_as<float>(op, buffers, rows, columns, stream);
  } else {
    throw NotOffered("the harness has no such kernel");
  }
  check(cudaGetLastError(), "launch of a kernel that moves bytes");
}

}  // namespace stepsim::calib::cuda
