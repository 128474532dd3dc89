// What stands above the results of nccl-tests: the collective, and the GPUs and nodes it ran on.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/calibrate/measurement/point.hpp"

namespace stepsim {

/// The collective of the program that the text names; nothing where it names none.
std::optional<CollectiveOp> nccl_program_in(const std::string& text);
/// "all_reduce_perf, ... or sendrecv_perf"
std::string nccl_programs();

struct NcclHead {
  std::optional<CollectiveOp> op;
  std::string program;  ///< one that measures what is of no use here; "": none
  int ranks = 0;        ///< "#  Rank" lines
  std::map<std::string, std::map<std::string, int>> hosts;  ///< ranks of each host and device
  int stated_gpus = 0, stated_nodes = 0;  ///< by lines "# gpus=16", "# nodes=2"; 0: not stated

  /// Whether the line names a program, whether or not its results are of use here.
  bool take_program(const std::string& line);
  /// Whether the line states a number of GPUs or nodes for a log that has lost its "#  Rank" lines.
  bool take_statement(const std::string& line);
  /// Whether the line begins the head of another run.
  bool begins_run(const std::string& line) const;
  void forget_ranks();

  int gpus() const { return stated_gpus > 0 ? stated_gpus : ranks; }
  int nodes() const;
  /// As many ranks on each node.
  bool is_even() const;
  /// Neither "#  Rank" lines nor a statement tell how the GPUs lie.
  bool lacks_nodes() const { return hosts.empty() && stated_nodes == 0; }
};

/// busbw over algbw of that collective among so many GPUs (NVIDIA/nccl-tests
/// doc/PERFORMANCE.md).
double rate_ratio(CollectiveOp op, int gpus);
/// The GPUs whose rate_ratio that is, within `error`; 0 where several have it, or none.
int gpus_of_rate_ratio(CollectiveOp op, double factor, double error);

}  // namespace stepsim
