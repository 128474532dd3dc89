// The scenario without its ways to do the job, or without its size, as text.
#include "sim/scenario/job_fingerprint.hpp"

#include "sim/core/hash.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {
namespace {

Scenario without_way(Scenario job) {
  job.parallelism = {};
  job.training.micro_batch = 1;
  job.training.recompute = {};
  return job;
}

Scenario without_size(Scenario job) {
  job.cluster.nodes = job.cluster.gpus_per_node = 1;
  if (job.cluster.inter_node) job.cluster.inter_node->nics_per_node = 1;
  job.parallelism.data.shard_degree.reset();
  job.training.global_batch = 1;
  return job;
}

std::string fingerprint(Scenario scenario) {
  scenario.name.clear();
  scenario.description.clear();
  return fnv1a_hex(to_yaml(scenario));
}

}  // namespace

std::string job_fingerprint(const Scenario& scenario) { return fingerprint(without_way(scenario)); }

std::string sizeless_fingerprint(const Scenario& scenario) {
  return fingerprint(without_size(scenario));
}

std::string sizeless_job_fingerprint(const Scenario& scenario) {
  return fingerprint(without_size(without_way(scenario)));
}

}  // namespace stepsim
