// Joins, broadcasts and copies of running statistics.
#include "sim/plan/program/running_statistics.hpp"

#include <numeric>

namespace stepsim {
namespace {

constexpr double kMomentBytes = 2 * 4;  // a channel: mean and variance, fp32
constexpr double kCountBytes = 8;       // a norm

std::vector<double> normed_channels(const Workshop& shop, int stage) {
  std::vector<double> channels;
  for (int chunk = 0; chunk < shop.scenario.parallelism.pipeline.chunks; ++chunk) {
    for (const std::size_t block : blocks_of(shop.scenario, shop.graph, stage, chunk)) {
      for (const Op* op : shop.graph.blocks[block].order())
        if (op->statistics > 0) channels.push_back(op->statistics);
    }
  }
  return channels;
}

Kernel moving(Workshop& shop, const char* name, double bytes) {
  return timed(shop, name, MemoryBound{Bytes{2 * bytes}}, Cause::forward);
}

}  // namespace

RunningStatistics::RunningStatistics(RankRows& rows) : rows_(rows) {
  const Workshop& shop = rows.shop();
  if (!shop.scenario.parallelism.data.broadcast_buffers) return;
  channels_ = normed_channels(shop, rows.shape().stage);
  moments_ = Bytes{kMomentBytes * std::accumulate(channels_.begin(), channels_.end(), 0.0)};
  counts_ = Bytes{kCountBytes * static_cast<double>(channels_.size())};
}

void RunningStatistics::write() {
  if (channels_.empty()) return;
  rows_.set_micro_batch(-1);
  rows_.write_kernels(joins());
  const auto groups = parameter_groups(rows_.shape());
  const ParameterGroup& group = groups.front();
  if (group.shape.ranks > 1) {
    if (operations_.empty()) {
      for (const Bytes bytes : {moments_, counts_})
        operations_.push_back(
            add_collective(rows_.shop(), CollectiveOp::broadcast, bytes, group.shape));
    }
    const std::vector<TaskIndex> joined{rows_.computed()};
    for (const std::uint32_t operation : operations_)
      rows_.wait_for(rows_.communicate(group.reduce, operation, joined));
  }
  rows_.write_kernels(copies());
}

std::vector<Kernel> RunningStatistics::joins() const {
  Workshop& shop = rows_.shop();
  return {moving(shop, "join statistics", moments_.bytes()),
          moving(shop, "join counts", counts_.bytes())};
}

std::vector<Kernel> RunningStatistics::copies() const {
  Workshop& shop = rows_.shop();
  std::vector<Kernel> kernels;
  for (const double channels : channels_) {
    for (const double bytes :
         {channels * kMomentBytes / 2, channels * kMomentBytes / 2, kCountBytes})
      kernels.push_back(moving(shop, "copy statistics", bytes));
  }
  return kernels;
}

}  // namespace stepsim
