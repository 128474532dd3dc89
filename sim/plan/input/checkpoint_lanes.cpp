// Adds the lanes of checkpoints.
#include "sim/plan/input/checkpoint_lanes.hpp"

#include "sim/plan/input/input_lanes.hpp"

namespace stepsim {

BytesPerSecond staging_rate(const Scenario& s) {
  return s.checkpoint->d2h_bandwidth.value_or(s.cluster.gpu.copy_pinned);
}

void add_checkpoint_lanes(Plan& plan, const Scenario& s, const SharedLinks& data) {
  const auto& own = s.checkpoint->storage;
  const SharedLinks links = own ? add_checkpoint_links(plan.network, *own) : data;
  const StoragePath through = own ? own->through : s.data->storage.through;
  const BytesPerSecond stream = own ? own->stream_bandwidth : s.data->storage.stream_bandwidth;
  const auto lane_of = [&](std::size_t rank, Lane lane) -> std::vector<LinkId>& {
    return plan.lanes[rank][static_cast<std::size_t>(lane)];
  };
  plan.lanes.resize(plan.program_of.size());
  for (std::size_t rank = 0; rank < plan.lanes.size(); ++rank) {
    const auto r = static_cast<int>(rank);
    std::vector<LinkId>& crossed = lane_of(rank, Lane::checkpoint);
    crossed = links.crossed_from(plan.network.node_of(r));
    if (through == StoragePath::fabric) crossed.push_back(plan.network.nic_out(r));
    if (shares_slot(plan.network, s.cluster))
      lane_of(rank, Lane::device_to_host) = {plan.network.to_nic(r).front()};
  }
  plan.lane_rates[static_cast<std::size_t>(Lane::device_to_host)] = staging_rate(s);
  if (stream > BytesPerSecond{0})
    plan.lane_rates[static_cast<std::size_t>(Lane::checkpoint)] = stream;
}

}  // namespace stepsim
