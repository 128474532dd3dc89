// Joins the spans of a rank with the launches of the graph, by their names.
#include "sim/report/recording/predicted_kernels.hpp"

#include <map>
#include <string>

namespace stepsim {
namespace {

void add(std::map<std::string, Work>& works, const Items& items) {
  for (const Item& item : items) {
    if (const auto* launch = std::get_if<Launch>(&item)) works.emplace(launch->name, launch->work);
  }
}

std::map<std::string, Work> works_of(const OpGraph& graph) {
  std::map<std::string, Work> works;
  for (const Block& block : graph.blocks) {
    for (const Op& op : block.dag.ops) {
      add(works, op.forward);
      add(works, op.backward);
    }
    for (const RecomputeRegion& region : block.regions) add(works, region.forward);
  }
  return works;
}

}  // namespace

bool is_work(Cause cause) {
  return cause == Cause::forward || cause == Cause::recompute || cause == Cause::backward ||
         cause == Cause::optimizer || cause == Cause::contention;
}

const RankTimeline& slowest_rank(const Metrics& metrics, const Timeline& timeline) {
  for (const RankTimeline& rank : timeline.ranks) {
    if (rank.stage == metrics.slowest_stage) return rank;
  }
  return timeline.ranks.front();
}

std::vector<FamilyKernel> predicted_kernels(const Metrics& metrics, const OpGraph& graph,
                                            const Simulation& simulation) {
  const Timeline& timeline = simulation.timeline;
  const RankTimeline& rank = slowest_rank(metrics, timeline);
  const std::map<std::string, Work> works = works_of(graph);
  std::vector<FamilyKernel> kernels;
  for (const Span& span : rank.spans) {
    if (span.step < timeline.warmup || rank.rows[span.row].kind != RowKind::compute ||
        !is_work(span.cause))
      continue;
    // What the graph does not have is laid out with the plan: updates, sums and norms of gradients.
    const auto known = works.find(timeline.names[span.name]);
    FamilyKernel kernel{.work = MemoryBound{{}, MemoryRate::optimizer},
                        .seconds = span.end - span.start - span.contention,
                        .calls = 1.0 / timeline.measured_steps()};
    if (known != works.end()) {
      kernel.work = known->second;
      kernel.family = family_of(known->second);
    }
    if (span.cause == Cause::optimizer) kernel.family = KernelFamily::optimizer;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace stepsim
