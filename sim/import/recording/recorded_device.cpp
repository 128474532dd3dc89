// Names of GPUs, as NVIDIA's driver has them (nvidia-smi -L).
#include "sim/import/recording/recorded_device.hpp"

#include <algorithm>
#include <array>

#include "sim/core/words.hpp"

namespace stepsim {
namespace {

struct Row {
  std::array<std::string_view, 2> words;  ///< both stand in the name, in lower case
  KnownDevice device;
};

/// The first row counts. A100-PG509-200 is the module with 40 GB.
constexpr std::array kRows{
    Row{{"gb200", ""}, {"gb200-nvl72", ""}},
    Row{{"gh200", ""}, {"dgx-h100", "an H100 behind PCIe, not a CPU's NVLink"}},
    Row{{"b200", ""}, {"dgx-b200", ""}},
    Row{{"h200", ""}, {"dgx-h200", ""}},
    Row{{"h800", ""}, {"dgx-h100", "an H100, whose NVLinks are faster"}},
    Row{{"h100", "pcie"}, {"dgx-h100", "an H100 SXM, which has more power and NVLink"}},
    Row{{"h100", ""}, {"dgx-h100", ""}},
    Row{{"a800", ""}, {"dgx-a100-80", "an A100, whose NVLinks are faster"}},
    Row{{"a100", "pcie"}, {"pcie-a100", ""}},
    Row{{"a100", "80gb"}, {"dgx-a100-80", ""}},
    Row{{"a100", ""}, {"dgx-a100-40", ""}},
    Row{{"v100", "pcie"}, {"dgx-1v", "a V100 SXM2, which has NVLink"}},
    Row{{"v100", ""}, {"dgx-1v", ""}},
};

}  // namespace

KnownDevice device_named(const std::string& name) {
  const std::string lower = in_lower_case(name);
  const auto* const row = std::ranges::find_if(kRows, [&](const Row& each) {
    return std::ranges::all_of(
        each.words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
  });
  return row == kRows.end() ? KnownDevice{} : row->device;
}

}  // namespace stepsim
