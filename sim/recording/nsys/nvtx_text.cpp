// Takes texts of NVTX ranges apart, as PyTorch writes them (getNvtxStr, torch/csrc/profiler).
#include "sim/recording/nsys/nvtx_text.hpp"

#include <algorithm>
#include <array>

namespace stepsim {
namespace {

/// What PyTorch puts behind a name, in this order.
constexpr std::array<std::string_view, 3> kBehindName{", seq = ", ", op_id = ", ", sizes = "};

/// Scopes of ranges are lost in NVTX. Names with `::` are operators and nodes of the backward pass,
/// but for these, which PyTorch wraps in record_function.
constexpr std::array<std::string_view, 2> kAnnotations{"FSDP::", "c10d::"};

bool is_operator(std::string_view name) {
  const bool is_named_range = std::ranges::any_of(
      kAnnotations, [&](std::string_view beginning) { return name.starts_with(beginning); });
  return !is_named_range && (name.find("::") != name.npos || name.find("Backward") != name.npos);
}

}  // namespace

NvtxName name_in_nvtx(std::string_view text) {
  NvtxName result;
  if (text.starts_with("{'") || text.starts_with("{\"")) return result;
  result.name = text;
  for (const std::string_view behind : kBehindName) {
    const std::size_t at = text.find(behind);
    if (at == text.npos || at == 0) continue;
    result.is_of_pytorch = true;
    result.name = result.name.substr(0, std::min(at, result.name.size()));
  }
  result.has_shapes = text.find(kBehindName.back()) != text.npos;
  result.is_of_pytorch |= text.starts_with("aten::");
  if (result.is_of_pytorch && is_operator(result.name)) result.work = HostWork::operation;
  return result;
}

}  // namespace stepsim
