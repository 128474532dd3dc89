// GPUs by profile and generation.
#include "sim/import/node/known_gpu.hpp"

#include <algorithm>
#include <iterator>

namespace stepsim {
namespace {

// NVLinks of a GPU: datasheets. GB/s of one: SM70_NVLINK_BW, ... in NVIDIA/nccl v2.30.7
// src/graph/topo.h. Slots and NICs: NVIDIA DGX-1, DGX A100, DGX H100, DGX B200 and DGX GB200
// user guides, L40S datasheet; the NICs of an L40S: judgement, ConnectX-6 as beside an A100.
constexpr KnownGpu kGpus[] = {{"v100", 70, 6, 20, 8, 100, ""},
                              {"a100-80", 80, 12, 20, 16, 200, "nvlink3"},
                              {"a100-40", 80, 12, 20, 16, 200, "nvlink3"},
                              {"h100", 90, 18, 20.6, 32, 400, "nvlink4"},
                              {"h200", 90, 18, 20.6, 32, 400, "nvlink4"},
                              {"b200", 100, 18, 40.1, 32, 400, "nvlink5"},
                              {"gb200", 100, 18, 40.1, 32, 400, "nvlink5"},
                              {"l40s", 89, 0, 0, 16, 200, ""}};

// PCI devices of NVIDIA (pciutils/pciids pci.ids): modules, and cards that are clocked as these.
struct Device {
  int device;
  std::string_view profile;
};
constexpr Device kDevices[] = {{0x1db1, "v100"},    {0x1db5, "v100"},    {0x1db8, "v100"},
                               {0x20b0, "a100-40"}, {0x20f1, "a100-40"}, {0x20b2, "a100-80"},
                               {0x20b5, "a100-80"}, {0x2330, "h100"},    {0x2335, "h200"},
                               {0x2901, "b200"},    {0x2941, "gb200"},   {0x26b9, "l40s"}};

}  // namespace

const KnownGpu* known_gpu_of_device(int device) {
  const auto* found = std::find_if(std::begin(kDevices), std::end(kDevices),
                                   [&](const Device& known) { return known.device == device; });
  return found == std::end(kDevices) ? nullptr : known_gpu(found->profile);
}

const KnownGpu* known_gpu(std::string_view profile) {
  const auto* found = std::ranges::find(kGpus, profile, &KnownGpu::profile);
  return found == std::end(kGpus) ? nullptr : found;
}

const KnownGpu* known_gpu_of_sm(int sm) {
  const auto* found = std::ranges::find(kGpus, sm, &KnownGpu::sm);
  return found == std::end(kGpus) ? nullptr : found;
}

BytesPerSecond pcie_payload(double gigatransfers, int lanes) {
  // 8 GT/s over 16 lanes are 12 GB/s to NCCL, and others in proportion (kvDictPciGen in
  // NVIDIA/nccl v2.30.7 src/graph/topo.cc).
  return 12_GBps * (gigatransfers / 8 * lanes / 16);
}

std::vector<std::string> known_gpus() {
  std::vector<std::string> profiles;
  for (const KnownGpu& gpu : kGpus) profiles.emplace_back(gpu.profile);
  return profiles;
}

}  // namespace stepsim
