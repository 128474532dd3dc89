// Computes the expected pace of the slowest GPU of a job.
#include "sim/plan/fault/slowest_gpu.hpp"

#include "sim/core/expected_maximum.hpp"

namespace stepsim {

double gpu_spread(const Scenario& scenario) {
  const Faults& faults = scenario.faults;
  const bool drawn =
      faults.kernels && faults.kernels->per == DrawPer::run && faults.kernels->who.all();
  return faults.gpu_spread.value_or(drawn ? 0 : scenario.cluster.gpu.spread);
}

Pace pace_of_slowest(const Scenario& scenario) {
  const double spread = gpu_spread(scenario);
  if (spread <= 0) return {};
  return {1 + spread * expected_maximum_of_normals(scenario.cluster.gpus())};
}

}  // namespace stepsim
