// Variables of Open MPI (mpirun), PMI and PMIx (other launchers, srun --mpi=...) and Slurm.
#include "sim/process/launcher.hpp"

#include <algorithm>
#include <cstdlib>

namespace stepsim {
namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

}  // namespace

bool was_launched_for_mpi() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(variable) != nullptr) return true;
  return false;
}

int slurm_tasks() {
  // mpirun within a job of Slurm starts itself by srun, once a node.
  return std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr ? number_in("SLURM_STEP_NUM_TASKS") : 1;
}

int launched_ranks() {
  return std::max({number_in("OMPI_COMM_WORLD_SIZE"), number_in("PMI_SIZE"), slurm_tasks()});
}

}  // namespace stepsim
