// A fingerprint of a scenario's job: what is to be done, and on what, whatever the way to do it.
#pragma once

#include <string>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Stands for all of a scenario but how it is split over the GPUs, its micro-batch and what
/// it computes again: equal where names, `parallelism`, `training.micro_batch` and
/// `training.recompute` alone differ.
std::string job_fingerprint(const Scenario& scenario);

/// Stands for all of a scenario but its size: the number of GPUs, data-parallel ranks and ports,
/// and the global batch.
std::string sizeless_fingerprint(const Scenario& scenario);

/// Stands for all of a scenario but its size and the way to do it (job_fingerprint).
std::string sizeless_job_fingerprint(const Scenario& scenario);

}  // namespace stepsim
