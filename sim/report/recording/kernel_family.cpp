// Sorts predicted kernels by their work, and recorded ones by their kind.
#include "sim/report/recording/kernel_family.hpp"

#include <variant>

namespace stepsim {
namespace {

KernelFamily family_of_rate(MemoryRate rate) {
  switch (rate) {
    case MemoryRate::norm:
      return KernelFamily::norm;
    case MemoryRate::softmax:
      return KernelFamily::softmax;
    case MemoryRate::loss:
      return KernelFamily::loss;
    case MemoryRate::optimizer:
      return KernelFamily::optimizer;
    case MemoryRate::elementwise:
    case MemoryRate::dropout:
    case MemoryRate::permute:
      return KernelFamily::other;
  }
  return KernelFamily::other;
}

}  // namespace

const char* title_of(KernelFamily family) {
  constexpr std::array<const char*, kFamilies> kTitles{
      "matrix products", "attention in one kernel",
      "convolutions",    "norms",
      "softmax",         "losses",
      "optimizer",       "element-wise and other kernels"};
  return kTitles.at(static_cast<std::size_t>(family));
}

KernelFamily family_of(KernelKind kind) {
  switch (kind) {
    case KernelKind::gemm:
      return KernelFamily::gemm;
    case KernelKind::attention:
      return KernelFamily::attention;
    case KernelKind::convolution:
      return KernelFamily::convolution;
    case KernelKind::norm:
      return KernelFamily::norm;
    case KernelKind::softmax:
      return KernelFamily::softmax;
    case KernelKind::loss:
      return KernelFamily::loss;
    case KernelKind::optimizer:
      return KernelFamily::optimizer;
    default:
      return KernelFamily::other;
  }
}

KernelFamily family_of(const Work& work) {
  if (std::holds_alternative<Gemm>(work)) return KernelFamily::gemm;
  if (std::holds_alternative<FusedAttention>(work)) return KernelFamily::attention;
  if (std::holds_alternative<Convolution>(work)) return KernelFamily::convolution;
  return family_of_rate(std::get<MemoryBound>(work).rate);
}

}  // namespace stepsim
