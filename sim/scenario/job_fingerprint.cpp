// The scenario without its ways to do the job, as text.
#include "sim/scenario/job_fingerprint.hpp"

#include "sim/core/hash.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {

std::string job_fingerprint(const Scenario& scenario) {
  Scenario job = scenario;
  job.name.clear();
  job.description.clear();
  job.parallelism = {};
  job.training.micro_batch = 1;
  job.training.recompute = {};
  return fnv1a_hex(to_yaml(job));
}

}  // namespace stepsim
