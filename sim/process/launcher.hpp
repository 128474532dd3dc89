// What mpirun and srun tell a process about those that they started with it, in its environment.
#pragma once

namespace stepsim {

/// Whether MPI is to be asked for the others.
bool was_launched_for_mpi();
/// How many tasks a step of Slurm has; 1 outside of one.
int slurm_tasks();
/// The ranks that mpirun started, or srun for MPI; 1 outside of it.
int launched_ranks();

}  // namespace stepsim
