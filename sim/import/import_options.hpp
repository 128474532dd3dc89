// What imports are asked.
#pragma once

#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/core/error.hpp"

namespace stepsim {

struct ImportOptions {
  std::string from;                    ///< the importer's name; empty: as recognised
  std::vector<std::string> arguments;  ///< megatron: its command line, or what follows the script's
  std::string file;                    ///< what is read; "-": standard input
  std::optional<std::string> model;    ///< where the source holds none
  std::optional<int> sequence_length;  ///< where the source holds none
  std::optional<std::string> cluster;  ///< absent: one stands in, and is listed as assumed
  int nodes = 0;                       ///< 0: as the source says, or as many as the split needs
  std::string gpu;                     ///< topo, nccl-topo: a profile; empty: as recognised
  std::vector<std::string> environment;  ///< NAME=VALUE of what a script asks of its environment
  std::string format = "text";           ///< text: YAML; json: YAML, assumptions and notes
  std::string output;                    ///< file to write; empty: standard output
  std::set<std::string> given;           ///< options that stood on the command line: "--nodes"
};

/// Writes what another program's configuration says; assumptions and what cannot be said go to
/// `notes` too.
ExitCode import(const ImportOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
