// FLOPs, bytes and footprint of each kind of point.
#include "sim/calibrate/measurement/work.hpp"

#include "sim/calibrate/measurement/memory_bytes.hpp"
#include "sim/core/overloaded.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {
namespace {

/// Products of sizes, which a file may give as large as it likes.
template <class... Sizes>
double product(Sizes... sizes) {
  return (1.0 * ... * static_cast<double>(sizes));
}

double gemm_bytes(const GemmPoint& gemm) {
  const double operand = bytes_per_element(gemm.dtype);
  // fp8 and nvfp4 are multiplied into bf16; an fp32 sum is read before it is written.
  const double result = gemm.accumulate ? 8 : bytes_per_element(storage_of(gemm.dtype));
  return product(gemm.batch) * (product(operand, gemm.m, gemm.k) +
                                product(operand, gemm.k, gemm.n) + product(result, gemm.m, gemm.n));
}

GemmPoint gemm_of(const OverlapPoint& overlap) {
  return {overlap.dtype, Transpose::TN, overlap.m, overlap.n, overlap.k};
}

double gemm_flops(const GemmPoint& gemm) { return 2 * product(gemm.batch, gemm.m, gemm.n, gemm.k); }

/// Queries, keys, values and output; backward also their gradients.
double attention_bytes(const AttentionPoint& point) {
  const double heads = 2 * (product(point.heads) + product(point.kv_heads));
  const double tensors = heads * product(point.batch, point.sequence, point.head_dim) *
                         product(element_bytes(point.dtype));
  return point.pass == AttentionPass::forward ? tensors : 2 * tensors;
}

double attention_flops(const AttentionPoint& point) {
  const double forward =
      4 * product(point.batch, point.heads, point.head_dim, point.sequence, point.sequence);
  return forward * (point.causal ? 0.5 : 1) * (point.pass == AttentionPass::forward ? 1 : 2.5);
}

double convolution_flops(const ConvolutionPoint& p) {
  return 2 * product(p.batch, p.out_height(), p.out_width(), p.filters) *
         product(p.channels, p.filter_height, p.filter_width);
}

/// Images, outputs and weights.
double convolution_bytes(const ConvolutionPoint& p) {
  return product(element_bytes(p.dtype)) *
         (product(p.batch, p.channels, p.height, p.width) +
          product(p.batch, p.filters, p.out_height(), p.out_width()) +
          product(p.filters, p.channels, p.filter_height, p.filter_width));
}

double whole_bytes(const Point& point) {
  return std::visit(
      Overloaded{[](const GemmPoint& p) { return gemm_bytes(p); },
                 [](const MemoryOpPoint& p) { return product(p.bytes); },
                 [](const AttentionPoint& p) { return attention_bytes(p); },
                 [](const LaunchPoint&) { return 0.0; }, [](const QueuePoint&) { return 0.0; },
                 [](const CopyPoint& p) { return product(p.bytes); },
                 [](const OverlapPoint& p) {
                   return p.timed == Activity::gemm ? gemm_bytes(gemm_of(p)) : product(p.bytes);
                 },
                 [](const CollectivePoint& p) { return product(p.bytes); },
                 [](const FileReadPoint& p) { return product(p.bytes); },
                 [](const ConvolutionPoint& p) { return convolution_bytes(p); },
                 // Red, green and blue.
                 [](const DecodePoint& p) { return product(3, p.width, p.height); }},
      point);
}

}  // namespace

double flops_of(const Point& point) {
  return std::visit(Overloaded{[](const GemmPoint& p) { return gemm_flops(p); },
                               [](const AttentionPoint& p) { return attention_flops(p); },
                               [](const ConvolutionPoint& p) { return convolution_flops(p); },
                               [](const OverlapPoint& p) {
                                 return p.timed == Activity::gemm ? gemm_flops(gemm_of(p)) : 0.0;
                               },
                               [](const auto&) { return 0.0; }},
                    point);
}

double bytes_of(const Point& point) { return whole_bytes(point); }

std::int64_t footprint_of(const Point& point) {
  const double bytes = std::visit(
      Overloaded{
          [](const OverlapPoint& p) { return gemm_bytes(gemm_of(p)) + 2 * product(p.bytes); },
          // Two buffers: what is sent, and what arrives.
          [](const CollectivePoint& p) { return 2 * product(p.bytes); },
          [](const CopyPoint& p) { return 2 * product(p.bytes); },
          [&point](const auto&) { return whole_bytes(point); }},
      point);
  return static_cast<std::int64_t>(bytes);
}

}  // namespace stepsim
