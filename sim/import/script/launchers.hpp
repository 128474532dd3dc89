// How many GPUs a launch has, by the programs that start it.
#pragma once

#include "sim/import/script/script_run.hpp"

namespace stepsim {

/// How many nodes and GPUs a launch has; 0 is "not stated".
struct LaunchedGpus {
  int nodes = 0;
  int gpus_per_node = 0;
  int gpus = 0;
  bool is_one_node = false;  ///< unless one node is too small: nothing starts a second one
};

/// The GPUs that wrappers and the launcher say (srun, mpirun, torchrun, deepspeed, accelerate,
/// pdsh); where they say nothing, those of `requested`, which the script asks of the scheduler.
/// `launches` differ in nothing but the rank of their node.
LaunchedGpus launched_gpus(const std::vector<StartedProgram>& launches,
                           const LaunchedGpus& requested);

/// The lines of a script that a scheduler reads: "#SBATCH --nodes=16", "#PBS -l select=2".
LaunchedGpus requested_gpus(const Source& script);

/// Variables that Slurm sets for a script with such lines, as far as they are known.
Variables slurm_variables(const Source& script, const LaunchedGpus& known);

}  // namespace stepsim
