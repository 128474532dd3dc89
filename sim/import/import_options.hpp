// What imports are asked.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"

namespace stepsim {

struct ImportOptions {
  std::string from;                    ///< the importer's name; empty: as recognised
  std::vector<std::string> arguments;  ///< megatron: its command line, or what follows the script's
  std::string file;                    ///< what is read; "-": standard input
  std::shared_ptr<const Source> text;  ///< of a configuration that is in no file; nullptr: `file`'s
  std::optional<std::string> model;    ///< where the source holds none
  std::optional<int> sequence_length;  ///< where the source holds none
  std::optional<std::string> cluster;  ///< absent: one stands in, and is listed as assumed
  int nodes = 0;                       ///< 0: as the source says, or as many as the split needs
  // What a configuration leaves open; absent and 0: as it says, or as its program does.
  std::optional<std::string> precision;  ///< fp32, tf32, fp16, bf16 or fp8
  int micro_batch = 0;                   ///< sequences of one pass of one rank
  int accumulation = 0;                  ///< passes of a step
  int global_batch = 0;                  ///< sequences of a step
  std::string training_arguments;        ///< file of Hugging Face's TrainingArguments; empty: none
  std::string gpu;                       ///< topo, nccl-topo: a profile; empty: as recognised
  std::vector<std::string> environment;  ///< NAME=VALUE of what a script asks of its environment
  std::string format = "text";           ///< text: YAML; json: YAML, assumptions and notes
  std::string output;                    ///< file to write; empty: standard output
  bool force = false;                    ///< it replaces any file
  std::set<std::string> given;           ///< options that stood on the command line: "--nodes"
};

/// Writes what another program's configuration says; assumptions and what cannot be said go to
/// `notes` too.
ExitCode import(const ImportOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
