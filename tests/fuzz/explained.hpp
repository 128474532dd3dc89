// What `explain` makes of the recordings of one file, without the time that it takes to read profiles.
#pragma once

#include <optional>
#include <vector>

#include "sim/recording/kernel_kinds.hpp"
#include "sim/recording/observation.hpp"
#include "sim/recording/ranks/recorded_job.hpp"
#include "sim/replay/replay.hpp"
#include "sim/report/recording/recording_report.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

inline void explain_all(const std::vector<Recording>& recordings) {
  static const KernelKinds kinds = load_kernel_kinds(fuzz_library());
  static const GpuProfile gpu = load_gpu("testgpu", fuzz_library());
  std::vector<Observation> ranks;
  std::optional<Replay> replayed;
  for (const Recording& recording : recordings) {
    ranks.push_back(observe(recording, kinds, &gpu));
    const auto plan = replay_plan(recording, kinds, &gpu);
    if (plan && !replayed) replayed = replay(*plan);
  }
  const RecordedJob job = job_of(std::move(ranks));
  to_table(job, {}, replayed);
  to_json(job, replayed);
}

}  // namespace stepsim
