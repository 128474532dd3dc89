// Checkpoints need somewhere to be written to, and failures a run that is long enough for them.
#include "sim/scenario/check/check.hpp"

namespace stepsim {
namespace {

constexpr BytesPerSecond kNone{0};

void check_stated(const Scenario& s, const CheckpointStorage& storage, const KeyReports& keys) {
  const bool fabric = storage.through == StoragePath::fabric;
  if (fabric && keys.sound({"cluster"}) && !s.cluster.inter_node) {
    keys.report({"checkpoint.storage.through", "use own"},
                "through is fabric, but the cluster has no inter_node that writes could leave by");
    return;
  }
  if (fabric || storage.bandwidth > kNone || storage.shared_bandwidth > kNone) return;
  keys.report({"checkpoint.storage", "state checkpoint.storage.bandwidth"},
              "nothing says how fast checkpoints are written: neither bandwidth nor "
              "shared_bandwidth is stated");
}

}  // namespace

void check_checkpoint(const Scenario& s, const KeyReports& keys) {
  if (s.run.horizon && s.run.horizon->tokens > 0 &&
      keys.sound({"run.horizon", "model", "training.sequence_length"}))
    keys.report({"run.horizon", "state it in steps"}, "'{}' has no tokens", s.model.name);
  if (s.reliability && !s.run.horizon && keys.sound({"reliability", "run.horizon"})) {
    keys.report({"reliability", "state run.horizon, as in \"7 days\""},
                "reliability is stated, but no run is long enough to be interrupted");
  }
  for (const Expectation& expectation : s.expect) {
    if (expectation.key != "goodput" || s.run.horizon) continue;
    keys.report({"expect.goodput", "state run.horizon, as in \"7 days\""},
                "goodput is that of a long run, but nothing says how long");
  }
  if (!s.checkpoint || !keys.sound({"checkpoint", "data"})) return;
  if (s.checkpoint->storage) return check_stated(s, *s.checkpoint->storage, keys);
  if (!s.data) {
    keys.report({"checkpoint", "state checkpoint.storage, as in {bandwidth: <number> GB/s}"},
                "nothing says where checkpoints are written to: there is no data.storage to share");
    return;
  }
  const Storage& shared = s.data->storage;
  const bool limited = shared.bandwidth > kNone || shared.shared_bandwidth > kNone;
  if (limited || shared.through == StoragePath::fabric) return;
  keys.report(
      {"checkpoint", "state checkpoint.storage, as in {bandwidth: <number> GB/s}"},
      "data.storage, which checkpoints are written to, has no bandwidth: it moves no bytes");
}

}  // namespace stepsim
