// Keys of data that do not fit together, or fit no cluster.

#include "sim/scenario/check/check.hpp"

namespace stepsim {
namespace {

void check_storage(const Scenario& s, const KeyReports& keys) {
  const Storage& storage = s.data->storage;
  const BytesPerSecond none{0};
  if (storage.stream_bandwidth > none && storage.bandwidth == none &&
      storage.shared_bandwidth == none) {
    keys.report({"data.storage.stream_bandwidth", "state data.storage.bandwidth"},
                "stream_bandwidth limits one read, but nothing says what all reads together get");
  }
  if (storage.through == StoragePath::fabric && keys.sound({"cluster"}) && !s.cluster.inter_node) {
    keys.report(
        {"data.storage.through", "use own"},
        "through is fabric, but the cluster has no inter_node that reads could come through");
  }
}

void check_epochs(const Scenario& s, const KeyReports& keys) {
  const Input& d = *s.data;
  if (d.samples == 0) {
    if (d.storage.page_cache > Bytes{0}) {
      keys.report({"data.storage.page_cache", "state data.samples"},
                  "page_cache keeps what earlier epochs read, but nothing says how long one is");
    }
    if (d.first_epoch > 0) {
      keys.report({"data.first_epoch", "state data.samples"},
                  "first_epoch is {}, but nothing says how long one is", d.first_epoch);
    }
    return;
  }
  if (!keys.sound({"training.global_batch"}) || d.samples >= s.training.global_batch) return;
  keys.report({"data.samples"}, "an epoch of {} samples has no whole step of {}", d.samples,
              s.training.global_batch);
}

void check_workers(const Scenario& s, const KeyReports& keys) {
  const Input& d = *s.data;
  if (d.pin_bandwidth && !d.pinned) {
    keys.report({"data.pin_bandwidth"},
                "pin_bandwidth is stated, but pinned is false: nothing pins");
  }
  const Host& host = s.host;
  if (!host.cores || !keys.sound({"cluster", "host"})) return;
  const double busy = host.threads * s.cluster.gpus_per_node;
  if (busy < *host.cores) return;
  keys.report({"host.cores"},
              "{} GPUs per node x threads {} = {:g}: no core of {:g} is left to loader "
              "workers",
              s.cluster.gpus_per_node, host.threads, busy, *host.cores);
}

}  // namespace

void check_input(const Scenario& scenario, const KeyReports& keys) {
  if (!scenario.data || !keys.sound({"data"})) return;
  check_storage(scenario, keys);
  check_epochs(scenario, keys);
  check_workers(scenario, keys);
  if (const auto& v = scenario.data->variation)
    check_distribution("data.variation", v->distribution, v->spread, keys);
}

}  // namespace stepsim
