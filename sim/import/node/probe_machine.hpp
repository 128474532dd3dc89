// A machine as its operating system and NVIDIA's driver see it.
#pragma once

#include <string>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/import/node/machine_files.hpp"

namespace stepsim {

struct ProbedCpu {
  std::string model;  ///< "" where it is not told, 0 likewise
  int sockets = 0, cores = 0, threads = 0;
  int numa_nodes = 0;
  Bytes memory;
};

struct ProbedGpu {
  std::string name;  ///< as its driver has it; "": not known
  std::string bus;   ///< "0000:1b:00.0"
  Bytes memory;      ///< 0: not known
  std::string numa;  ///< "0"; "": not known
  double pcie = 0;   ///< GT/s of its slot; 0: not known
  int lanes = 0;
};

struct ProbedNic {
  std::string name;     ///< "mlx5_0", "eth0"
  std::string kind;     ///< InfiniBand, RoCE, RDMA (of other kinds), Ethernet
  std::string bus;      ///< "" where it is not told
  BytesPerSecond rate;  ///< 0: not known
  std::string numa;
  bool is_up = true;
  std::string from;  ///< the file that the rate stands in
};

struct ProbedMachine {
  ProbedCpu cpu;
  std::vector<ProbedGpu> gpus;  ///< in the order of nvidia-smi
  std::string gpus_from;        ///< nvidia-smi, or the folder of PCI devices
  std::vector<ProbedNic> nics;
  SourcePtr matrix;                 ///< what `nvidia-smi topo -m` prints; nullptr: nothing
  std::vector<std::string> unseen;  ///< "which GPUs: no nvidia-smi"
};

/// Throws UserError with the place of everything that is there and cannot be understood.
ProbedMachine probe_machine(const MachineFiles& files);

}  // namespace stepsim
