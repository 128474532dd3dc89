// What one kernel does, before anyone asks how long it takes: shapes, FLOPs and bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "sim/core/quantity.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// Elements of 16 bits in 16 bytes, which tensor cores are fed with at once.
inline constexpr std::int64_t kAlignedElements = 8;

/// The largest power of two that divides both widths, at most kAlignedElements: how many elements
/// can be loaded at once wherever a row of such a width begins.
constexpr std::int64_t alignment_of(std::int64_t width, std::int64_t other) {
  std::int64_t elements = kAlignedElements;
  while (width % elements != 0 || other % elements != 0) elements /= 2;
  return elements;
}

/// C[m,n] += A[m,k] B[k,n], `batch` times.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  bool weight_gradient = false;  ///< accumulates into the gradient buffer
  Precision precision = Precision::bf16;
  bool grouped = false;     ///< a product for each expert of a layer, all in one kernel
  bool one_by_one = false;  ///< a kernel for each of the batch, one after the other
  /// elements that the rows of its matrices are multiples of
  std::int64_t alignment = kAlignedElements;
  bool split_accumulator = false;  ///< fp8: sums go to fp32 on the way, as those of gradients do
  bool blockwise = false;          ///< fp8: its operands have a scale for each 128 elements
  /// bytes of an element of the gradient that the kernel reads and adds to; 0: it writes a result
  double adds_to = 0;
  /// pieces of one kernel that are alike, of which this is one: tiles that wait for the same rank's
  /// rows, or whose results go to the same rank
  int pieces = 1;

  Flops flops() const {
    return Flops{2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                 static_cast<double>(batch) / pieces};
  }
};

/// One fused (flash) attention kernel over `batch` sequences. With a causal mask the kernel skips
/// the half of the scores that it hides: FLOPs are those of the other half.
struct FusedAttention {
  std::string kernel;  ///< an attention kernel of the GPU's profile
  std::int64_t batch = 1, heads = 0, head_dim = 0, sequence = 0;
  bool backward = false;
  std::int64_t value_dim = 0;    ///< width of a head's values; 0: head_dim
  std::int64_t query_ranks = 1;  ///< ranks that share out the queries; keys and values are whole
  bool causal = true;
  std::int64_t keys = 0;    ///< tokens of keys and values; 0: sequence
  std::int64_t window = 0;  ///< keys that a query sees at most, its own included; 0: all
  /// tokens of each of the equal documents that a sequence is packed of, to whose own tokens
  /// queries attend; 0: it is one
  double document = 0;

  std::int64_t key_tokens() const { return keys > 0 ? keys : sequence; }
  std::int64_t values() const { return value_dim > 0 ? value_dim : head_dim; }
  /// Tokens that one mask holds together.
  double joined_tokens() const {
    return document > 0 ? document : static_cast<double>(key_tokens());
  }
  /// Pairs of a query and a key that it sees, of one head: `more` keys beside each window are
  /// computed, too.
  double pairs(double more = 0) const {
    const double all = joined_tokens();
    const double queries = document > 0 ? document : static_cast<double>(sequence);
    const double documents = document > 0 ? static_cast<double>(sequence) / document : 1;
    const double whole = causal ? queries * all / 2 : queries * all;
    const auto seen = static_cast<double>(window);
    if (window == 0 || seen >= all) return documents * whole;
    // The first queries see fewer, and without a mask the last ones do, too.
    const double narrow = queries * seen - seen * seen / 2;
    return documents * std::min((causal ? narrow : 2 * narrow) + more * queries, whole);
  }
  Flops flops(double more = 0) const {
    // Forward: scores and context. Backward: the scores again, and two gradients of each product.
    const std::int64_t width = backward ? 3 * head_dim + 2 * values() : head_dim + values();
    return Flops{2 * static_cast<double>(batch * heads * width) * pairs(more) /
                 static_cast<double>(query_ranks)};
  }
};

/// A convolution of square images with a square filter of odd width, padded by half of it, as an
/// implicit GEMM (NVIDIA/cutlass media/docs/cpp/implicit_gemm_convolution.md).
struct Convolution {
  std::int64_t batch = 1, in_channels = 0, out_channels = 0;
  std::int64_t image = 0;  ///< edge of the input, in pixels
  std::int64_t filter = 1, stride = 1;
  ConvolutionPass pass = ConvolutionPass::forward;
  Precision precision = Precision::bf16;  ///< type of the tensors
  std::int64_t groups = 1;                ///< each sees its share of the channels alone
  bool autotuned = true;                  ///< its kernel is the best of all

  std::int64_t out_image() const { return (image - 1) / stride + 1; }
  /// The type in which a convolution is computed.
  Precision computed() const { return convolution_precision(precision, in_channels / groups); }
  std::int64_t weights() const { return in_channels / groups * out_channels * filter * filter; }
  /// The FLOPs of a pass, which are equal for all three passes.
  Flops flops() const {
    return Flops{2.0 * static_cast<double>(batch * out_image() * out_image()) *
                 static_cast<double>(weights())};
  }
  /// Each element of input, output and weights once: the GEMM's first matrix is made on the fly.
  Bytes bytes() const {
    return Bytes{bytes_per_element(precision) *
                 static_cast<double>(batch * image * image * in_channels +
                                     batch * out_image() * out_image() * out_channels + weights())};
  }
};

/// Which of the profile's memory rates a kernel reaches.
enum class MemoryRate { elementwise, norm, softmax, dropout, loss, optimizer, permute };

/// A kernel whose time is that of the bytes it reads and writes. One that works on rows and comes
/// back to what it has read finds it in the caches, if a row is short.
struct MemoryBound {
  Bytes bytes;  ///< each once
  MemoryRate rate = MemoryRate::elementwise;
  Bytes again;        ///< what is read once more of rows that are too long to be kept
  Bytes row;          ///< what is kept of one of them
  double slower = 1;  ///< than its bytes, each once, at the profile's rate
  Flops products;     ///< FLOPs of products that fp32 units make beside it
  double fed = 1;     ///< share of those units that shared memory can feed
  /// kernels, one behind the other, of which each moves its share of the bytes
  std::int64_t parts = 1;
  Seconds occupied;  ///< that one multiprocessor would be busy beside its bytes
  Seconds chain;     ///< that steps which wait for each other take at least
};

using Work = std::variant<Gemm, FusedAttention, MemoryBound, Convolution>;

}  // namespace stepsim
