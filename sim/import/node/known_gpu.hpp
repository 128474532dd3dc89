// What is known of the GPUs of imported nodes, beyond what the import says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/quantity.hpp"

namespace stepsim {

/// Payload of a PCIe link of that generation and width, as NCCL has it.
BytesPerSecond pcie_payload(double gigatransfers, int lanes);

/// What is known of GPUs by their generation.
struct KnownGpu {
  std::string_view profile;
  int sm;                 ///< compute capability times ten
  int nvlinks;            ///< NVLinks of one GPU
  double nvlink;          ///< GB/s of one link, of which NCCL expects payload
  double pcie;            ///< GT/s of its slot
  double nic;             ///< Gbit/s of the NICs that its systems have
  std::string_view link;  ///< measured, behind NVSwitch; "": none
};
/// nullptr for others.
const KnownGpu* known_gpu(std::string_view profile);
const KnownGpu* known_gpu_of_sm(int sm);
/// By its PCI device, 0x2330.
const KnownGpu* known_gpu_of_device(int device);
/// The profiles of all.
std::vector<std::string> known_gpus();

}  // namespace stepsim
