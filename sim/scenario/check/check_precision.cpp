// The sentences about types of numbers.
#include "sim/scenario/check/check_precision.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

bool scales_blocks(const GpuProfile& gpu) {
  return std::any_of(gpu.gemm.begin(), gpu.gemm.end(), [](const GemmProfile& gemm) {
    return gemm.precision == Precision::fp8 && gemm.block_scaling;
  });
}

}  // namespace

bool has_fp8_parameters(const Training& training, const Sharding& sharding) {
  return sharding.shards_optimizer || sharding.shards_parameters || training.lora;
}

std::vector<Objection> precision_objections(const Scenario& scenario) {
  const Training& t = scenario.training;
  const GpuProfile& gpu = scenario.cluster.gpu;
  std::vector<Objection> found;
  if (t.gradients == Precision::fp8)
    found.push_back(
        {"training.gradients", "gradients are not added up in fp8", "use bf16 or fp32"});
  if (t.precision != Precision::fp8 && t.fp8_scaling != Fp8Scaling::delayed) {
    found.push_back({"training.fp8_scaling",
                     fmt::format("fp8_scaling is {}, but precision is {}", name_of(t.fp8_scaling),
                                 name_of(t.precision)),
                     "state \"precision: fp8\""});
  }
  if (t.reduce_amax && (t.precision != Precision::fp8 || t.fp8_scaling != Fp8Scaling::delayed)) {
    found.push_back({"training.reduce_amax",
                     "reduce_amax is about scales from earlier steps, which fp8 with delayed "
                     "scaling has",
                     "leave it out, or state \"precision: fp8\""});
  }
  const bool holds = has_fp8_parameters(t, scenario.parallelism.data.sharding);
  if (t.fp8_parameters && (t.precision != Precision::fp8 || !holds)) {
    found.push_back(
        {"training.fp8_parameters",
         "fp8_parameters are those that zero1, zero2 and zero3 gather where precision is fp8",
         "leave it out, or state \"precision: fp8\" and \"sharding: zero1\""});
  }
  if (t.precision == Precision::fp8 && t.fp8_scaling == Fp8Scaling::mxfp8 && !scales_blocks(gpu)) {
    found.push_back({"training.fp8_scaling",
                     fmt::format("GPU profile '{}' has no products of blocks with scales of their "
                                 "own, as mxfp8 needs",
                                 gpu.name),
                     "use delayed or current"});
  }
  if (t.cublas < kCublasOfAnyAlignment && gpu.architecture != Architecture::volta) {
    found.push_back(
        {"training.cublas",
         fmt::format("cuBLAS {} does not know the GPU of profile '{}'", t.cublas, gpu.name),
         fmt::format("leave it out, or state {}", kCublasOfAnyAlignment)});
  }
  return found;
}

}  // namespace stepsim
