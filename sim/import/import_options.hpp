// What imports are asked.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/error.hpp"

namespace stepsim {

struct ImportOptions {
  std::string from;                    ///< megatron, deepspeed; topo, nccl-topo
  std::vector<std::string> arguments;  ///< megatron: its command line
  std::string file;                    ///< megatron: a script that holds it; deepspeed: config.json
  std::optional<std::string> model;    ///< deepspeed; absent: one stands in, and is named
  std::optional<int> sequence_length;  ///< deepspeed; absent: one stands in, and is named
  std::string cluster = "dgx-h100";
  int nodes = 0;       ///< 0: as many as the split needs
  std::string gpu;     ///< topo, nccl-topo: a profile; empty: as recognised
  std::string output;  ///< file to write; empty: standard output
};

/// Writes a scenario from another program's configuration; what it cannot say goes to `notes` too.
ExitCode import(const ImportOptions& options, std::ostream& out, std::ostream& notes);

/// Writes a cluster from what `nvidia-smi topo -m` or NCCL say of a node; options.file may be "-".
ExitCode import_topology(const ImportOptions& options, std::ostream& out);

}  // namespace stepsim
