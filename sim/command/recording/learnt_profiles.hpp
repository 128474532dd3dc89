// What a recording teaches: the profiles of a scenario with rates as they were recorded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/calibrate/profile/recorded_rates.hpp"
#include "sim/command/answer/answer.hpp"
#include "sim/recording/ranks/recorded_job.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {

struct LearntProfiles {
  std::string base, name;           ///< of the GPU's profile: the scenario's, and the new one
  std::string origin;               ///< "rank0.json (NVIDIA H100 80GB HBM3, 5 steps)"
  std::vector<ScaledGroup> groups;  ///< families of kernels
  double between_s = 0;             ///< between the operators of a core, in a step
  std::string gpu_text;
  ScaledGroup collectives;
  std::string link_text;               ///< empty: nothing was learnt of links
  std::optional<Seconds> launch;       ///< what `host.launch` would be, without a profiler
  Seconds launch_recorded;             ///< with it
  std::string launch_reason;           ///< why that is not known
  std::vector<std::string> not_known;  ///< by the recording
};

/// The scenario says which work the recorded kernels did: their times scale its rates, family by
/// family, by a mean step of the rank that works longest; on a core, by its fastest operators.
/// Times of collectives are those of the shortest kernel of their ranks, which waited least. The
/// step's time is not used. `answer` has single kernels. Throws UserError where no family can be
/// scaled.
LearntProfiles learn(const Scenario& scenario, const Answer& answer, const RecordedJob& job,
                     const std::string& name, const Library& library);

}  // namespace stepsim
