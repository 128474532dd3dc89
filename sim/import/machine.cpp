// The GPUs of an imported run, and what is assumed of them.
#include "sim/import/machine.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/import/written_name.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {
namespace {

constexpr const char* kCluster = "dgx-h100";

void assume_cluster(const Machine& machine, Draft& draft) {
  draft.assume({.what = "cluster",
                .value = machine.cluster.name,
                .why = fmt::format("the GPU's type ({} here) and the network are not stated",
                                   machine.cluster.gpu.name),
                .state = "--cluster NAME"});
}

std::string why_so_many(const StatedMachine& stated) {
  if (stated.gpus > 0) return fmt::format("{} GPUs: {}", stated.gpus, stated.why);
  return stated.needed > 1
             ? fmt::format("not stated; as few as hold one replica of {} GPUs", stated.needed)
             : "not stated; as few as there can be";
}

void assume_nodes(const Machine& machine, const StatedMachine& stated, Draft& draft) {
  draft.assume({.what = "nodes",
                .value = fmt::format("{} of {} GPUs", machine.nodes, machine.gpus_per_node),
                .why = why_so_many(stated),
                .state = "--nodes N"});
}

/// So many GPUs on so many nodes, or on as few as the cluster's nodes hold.
void deal_out(int gpus, int nodes, Machine& machine) {
  const int fit = std::min(machine.gpus_per_node, gpus);
  machine.nodes = nodes > 0 ? nodes : (gpus + fit - 1) / fit;
  if (gpus % machine.nodes != 0)
    throw UserError(fmt::format("{} GPUs cannot be dealt out on {} nodes: state --nodes N", gpus,
                                machine.nodes));
  machine.gpus_per_node = gpus / machine.nodes;
}

Cluster cluster_of(const ImportOptions& options) {
  return load_cluster(options.cluster.value_or(kCluster), library_for("scenario.yaml"));
}

}  // namespace

int product_of(std::initializer_list<std::int64_t> degrees) {
  std::int64_t product = 1;
  for (const std::int64_t degree : degrees) {
    if (degree > kMostGpus || product * degree > kMostGpus)
      throw UserError(fmt::format("the split makes more than {} GPUs", kMostGpus));
    product *= degree;
  }
  return static_cast<int>(product);
}

int usual_gpus_per_node(const ImportOptions& options) { return cluster_of(options).gpus_per_node; }

Machine machine_for(const ImportOptions& options, const StatedMachine& stated, Draft& draft) {
  Machine machine{.cluster = cluster_of(options),
                  .base = written_name(options.cluster.value_or(kCluster), options)};
  machine.gpus_per_node =
      stated.gpus_per_node > 0 ? stated.gpus_per_node : machine.cluster.gpus_per_node;
  const int nodes = options.nodes > 0 ? options.nodes : stated.nodes;
  const int least = (stated.needed + machine.gpus_per_node - 1) / machine.gpus_per_node;
  machine.nodes = nodes > 0 ? nodes : std::max(least, 1);
  const bool is_whole = nodes > 0 && stated.gpus_per_node > 0;
  if (stated.gpus > 0 && !is_whole) deal_out(stated.gpus, nodes, machine);
  if (!options.cluster) assume_cluster(machine, draft);
  if (nodes <= 0) assume_nodes(machine, stated, draft);
  return machine;
}

std::string cluster_text(const Machine& machine) {
  std::vector<std::string> entries{"base: " + machine.base,
                                   fmt::format("nodes: {}", machine.nodes)};
  if (machine.gpus_per_node != machine.cluster.gpus_per_node) {
    entries.push_back(fmt::format("gpus_per_node: {}", machine.gpus_per_node));
    const bool fewer = machine.cluster.inter_node &&
                       machine.cluster.inter_node->nics_per_node > machine.gpus_per_node;
    if (fewer)
      entries.push_back(fmt::format("inter_node: {{nics_per_node: {}}}", machine.gpus_per_node));
  }
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

bool has_attention(const GpuProfile& gpu, std::string_view kernel) {
  return std::any_of(gpu.attention.begin(), gpu.attention.end(),
                     [&](const AttentionProfile& each) { return each.kernel == kernel; });
}

std::string fused_attention(const GpuProfile& gpu) {
  std::string best = "unfused";
  FlopsPerSecond rate{0};
  for (const AttentionProfile& attention : gpu.attention) {
    if (attention.plateau <= rate) continue;
    best = attention.kernel;
    rate = attention.plateau;
  }
  return best;
}

std::string torch_attention(const GpuProfile& gpu) {
  return has_attention(gpu, "flash2") ? "flash2" : fused_attention(gpu);
}

}  // namespace stepsim
