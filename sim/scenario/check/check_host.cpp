// Keys of host that do not fit together, or that no simulated step would show.
#include <fmt/format.h>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/host_period.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// Whether a measured step is the last of a stretch of so many.
bool is_seen(const Run& run, std::int64_t steps) {
  const std::int64_t end = run.warmup + run.steps;
  return end / steps > run.warmup / steps;
}

void check_seen(const Scenario& s, const std::string& path, std::int64_t steps,
                const KeyReports& keys) {
  if (steps <= 0 || is_seen(s.run, steps)) return;
  keys.report({path, fmt::format("state run.steps: {}, or leave it out", steps)},
              "it happens every {} steps, which none of the {} measured ones after {} of "
              "warm-up would show",
              steps, s.run.steps, s.run.warmup);
}

std::int64_t micro_batches(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"cluster", "parallelism", "training"})) return 1;
  const int pipelines = s.parallelism.tensor * s.parallelism.pipeline.stages;
  if (pipelines < 1 || s.data_parallel() < 1 || s.training.micro_batch < 1) return 1;
  return std::max(s.micro_batches(), 1);
}

void check_cpu_work(const Scenario& s, const KeyReports& keys) {
  for (std::size_t i = 0; i < s.host.cpu_work.size(); ++i) {
    const CpuWork& work = s.host.cpu_work[i];
    const std::string path = fmt::format("host.cpu_work[{}]", i);
    if (!work.waits && (work.to_host > Bytes{0} || work.to_gpu > Bytes{0})) {
      keys.report({path, "leave to_host and to_gpu out, or waits"},
                  "what is copied has to be waited for, but waits is false");
    }
    if (work.after == HostAfter::step && work.per == Per::micro_batch) {
      keys.report({path, "use per: step"}, "work after the step has no micro-batch");
    }
    check_seen(s, path, steps_of(work.every, work.per, micro_batches(s, keys)), keys);
  }
}

void check_recompilation(const Scenario& s, const KeyReports& keys) {
  if (!s.host.recompilation) return;
  const char* path = "host.recompilation";
  if (s.host.mode == HostMode::eager || s.host.blocking())
    keys.report({path, "state host.mode: compiled"}, "mode is {}, which compiles nothing",
                name_of(s.host.mode));
  if (s.host.recompilation->when == NewShape::last_batch) {
    if (s.host.recompilation->every != 1)
      keys.report({"host.recompilation.every"}, "when is last_batch: an epoch says how often");
    if (!s.data || s.data->samples == 0) {
      return keys.report({path, "state data.samples"},
                         "when is last_batch, but nothing says how long an epoch is");
    }
    if (s.training.global_batch > 0 && s.data->samples % s.training.global_batch == 0) {
      keys.report({path, "leave it out"},
                  "when is last_batch, but none is short: {} samples an epoch are {} "
                  "batches of {}",
                  s.data->samples, s.data->samples / s.training.global_batch,
                  s.training.global_batch);
    }
  }
  check_seen(s, path, recompilation_period(s), keys);
}

void check_pace(const Scenario& s, const KeyReports& keys) {
  if (s.host.counts_calls()) {
    if (s.host.mode == HostMode::compiled || s.host.graph())
      keys.report({"host.pace", "state host.mode: eager"},
                  "mode is {}, which calls none of PyTorch's modules", name_of(s.host.mode));
  } else if (s.host.speed != Host{}.speed) {
    keys.report({"host.speed", "state host.pace: calls"},
                "it is that of calls, but pace is launches");
  }
}

void check_anomaly_detection(const Scenario& s, const KeyReports& keys) {
  if (!s.host.anomaly_detection) return;
  if (s.host.mode == HostMode::compiled || s.host.graph())
    keys.report({"host.anomaly_detection", "state host.mode: eager"},
                "mode is {}, whose operators autograd does not see", name_of(s.host.mode));
}

void check_queue(const Scenario& s, const KeyReports& keys) {
  if (!s.host.queue_depth || !s.host.blocking()) return;
  keys.report({"host.queue_depth", "leave it out"},
              "mode is blocking, where no kernel waits behind another");
}

void check_graphs(const Scenario& s, const KeyReports& keys) {
  if (s.host.graphs.empty()) return;
  if (s.host.graph())
    keys.report({"host.graphs", "leave it out"}, "mode is graph: whole passes are one launch");
  if (!std::holds_alternative<Transformer>(s.model.shape) && keys.sound({"model"}))
    keys.report({"host.graphs", "leave it out"}, "graphs are of modules that transformers have");
}

void check_threads(const Scenario& s, const KeyReports& keys) {
  if (s.host.threads != Host{}.threads && !s.host.cores) {
    keys.report({"host.threads", "state host.cores"},
                "threads share cores, but nothing says how many a node has");
  }
}

}  // namespace

void check_host(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"host"})) return;
  check_anomaly_detection(s, keys);
  check_pace(s, keys);
  check_queue(s, keys);
  check_graphs(s, keys);
  check_threads(s, keys);
  if (!keys.sound({"run"})) return;
  check_cpu_work(s, keys);
  check_recompilation(s, keys);
  if (s.host.garbage_collection)
    check_seen(s, "host.garbage_collection", s.host.garbage_collection->every, keys);
}

}  // namespace stepsim
