// Joins, broadcasts and copies of running statistics.
#include "sim/plan/program/running_statistics.hpp"

#include <numeric>

#include "sim/plan/pass/chains.hpp"
#include "sim/plan/pass/operations.hpp"
#include "sim/plan/pass/parameter_group.hpp"
#include "sim/plan/program/stage_blocks.hpp"

namespace stepsim {
namespace {

constexpr double kMomentBytes = 2 * 4;  // a channel: mean and variance, fp32
constexpr double kCountBytes = 8;       // a norm

std::vector<double> normed_channels(const PlanDraft& draft, int stage) {
  std::vector<double> channels;
  for (int chunk = 0; chunk < draft.scenario.parallelism.pipeline.chunks; ++chunk) {
    for (const std::size_t block : blocks_of(draft.scenario, draft.graph, stage, chunk)) {
      for (const Op* op : draft.graph.blocks[block].order())
        if (op->statistics > 0) channels.push_back(op->statistics);
    }
  }
  return channels;
}

Kernel moving(PlanDraft& draft, const char* name, double bytes) {
  return timed(draft, name, MemoryBound{Bytes{2 * bytes}}, Cause::forward);
}

}  // namespace

RunningStatistics::RunningStatistics(RankRows& rows) : rows_(rows) {
  const PlanDraft& draft = rows.draft();
  if (!draft.scenario.parallelism.data.broadcast_buffers) return;
  channels_ = normed_channels(draft, rows.shape().stage);
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
    const std::vector<TaskIndex> joined{rows_.computed()};
    for (const Bytes bytes : {moments_, counts_}) {
      const std::uint32_t broadcast =
          pass_collective(rows_.draft(), CollectiveOp::broadcast, bytes, group.shape);
      rows_.wait_for(rows_.communicate(group.reduce, broadcast, joined));
    }
  }
  rows_.write_kernels(copies());
}

std::vector<Kernel> RunningStatistics::joins() const {
  PlanDraft& draft = rows_.draft();
  return {moving(draft, "join statistics", moments_.bytes()),
          moving(draft, "join counts", counts_.bytes())};
}

std::vector<Kernel> RunningStatistics::copies() const {
  PlanDraft& draft = rows_.draft();
  std::vector<Kernel> kernels;
  for (const double channels : channels_) {
    for (const double bytes :
         {channels * kMomentBytes / 2, channels * kMomentBytes / 2, kCountBytes})
      kernels.push_back(moving(draft, "copy statistics", bytes));
  }
  return kernels;
}

}  // namespace stepsim
