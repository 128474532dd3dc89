// All rules, in the order in which sentences are written.
#include "sim/scenario/check/check.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

void check_model(const Model& model, const KeyReports& keys) {
  if (!keys.sound({"model"})) return;
  if (const auto* r = std::get_if<ResNet>(&model.shape)) check_resnet(*r, keys);
  if (const auto* d = std::get_if<Dlrm>(&model.shape)) check_dlrm(*d, keys);
  if (const auto* t = std::get_if<Transformer>(&model.shape)) check_transformer(*t, keys);
}

/// NCCL joins a GPU to one NIC, or to several whose ports it merges (NVIDIA/nccl v2.30.7
/// src/graph/search.cc, topo.cc): two nodes of one H100 and four NICs of 400 Gbit/s reach 50 GB/s
/// (nccl-tests issue 232).
std::string divided_nics(int nics, int gpus) {
  int fewer = std::min(nics, gpus);
  while (gpus % fewer != 0) --fewer;
  std::string text = fmt::format("state {}, since NCCL gives each GPU one NIC", fewer);
  if (nics > gpus && nics % gpus == 0)
    text +=
        fmt::format("; {} ports that are one NIC to NCCL count as one of their sum", nics / gpus);
  return text;
}

/// The most GPUs that the node's link was measured with; 0: it was not.
int most_joined(const LinkProfile& link) {
  int most = 0;
  for (const auto* lines :
       {&link.all_reduce, &link.all_gather, &link.reduce_scatter, &link.all_to_all}) {
    for (const CollectiveLine& line : *lines) most = std::max(most, line.ranks);
  }
  return most;
}

/// A scenario that states more GPUs for a node of a cluster's file does not make its switches
/// larger: a DGX has eight, and 72 have a link of their own (nvlink5-nvl72). Where the link or the
/// node's topology is stated beside the number, it is meant.
void check_node_size(const Cluster& c, const KeyReports& keys) {
  if (!keys.sound({"cluster.gpus_per_node", "cluster.intra_node"})) return;
  const int most = most_joined(c.intra_node);
  if (most == 0 || c.gpus_per_node <= most) return;
  for (const char* key : {"cluster.intra_node", "cluster.node_topology"}) {
    if (keys.stated(key) && keys.stand_together("cluster.gpus_per_node", key)) return;
  }
  keys.report({"cluster.gpus_per_node",
               "state more nodes, or the link that joins so many: "
               "\"intra_node: <link>\""},
              "{} joins up to {} GPUs of a node, not {}", c.intra_node.name, most, c.gpus_per_node);
}

void check_energy(const Scenario& s, const KeyReports& keys) {
  if (!s.energy.is_stated() || s.cluster.gpu.power_limit.value > 0 || !keys.sound({"cluster"}))
    return;
  keys.report({"energy", "state cluster.gpu.power_limit, or leave it out"},
              "nothing says what a board of {} draws: its power_limit is 0", s.cluster.gpu.name);
}

void check_cluster(const Cluster& c, const KeyReports& keys) {
  if (!keys.sound({"cluster"})) return;
  if (c.nodes > 1 && !c.inter_node) {
    keys.report(
        {"cluster.nodes", "add \"inter_node: {bandwidth: <number> Gbit/s, latency: <number> us}\""},
        "{} nodes need a network, but the cluster has no inter_node", c.nodes);
  }
  if (c.gpus_per_node > 1 && c.intra_node.bandwidth.base() <= 0) {
    keys.report({"cluster.gpus_per_node", "add \"intra_node: <link>\""},
                "{} GPUs per node need a link, but the cluster has no intra_node", c.gpus_per_node);
  }
  check_node_size(c, keys);
  if (!c.inter_node || c.nodes == 1) return;
  const int nics = c.inter_node->nics_per_node;
  if (nics > c.gpus_per_node || c.gpus_per_node % nics != 0) {
    keys.report({"cluster.inter_node.nics_per_node", divided_nics(nics, c.gpus_per_node)},
                "nics_per_node {} does not divide gpus_per_node {}", nics, c.gpus_per_node);
  }
}

/// Keys about parts that the model does not have.
void check_absent_parts(const Scenario& s, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (!std::holds_alternative<Dlrm>(s.model.shape)) {
    if (keys.sound({"parallelism.embedding"}) && p.embedding != EmbeddingSplit::table)
      keys.report({"parallelism.embedding"}, "the model has no embedding tables to deal out");
    if (keys.sound({"parallelism.bottom_mlp"}) && p.bottom_mlp != BottomMlp::each)
      keys.report({"parallelism.bottom_mlp"}, "the model has no bottom MLP to place");
  }
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if ((t == nullptr || !t->experts) && keys.sound({"parallelism.expert"}) &&
      p.expert != ExpertParallel{})
    keys.report({"parallelism.expert"}, "the model has no experts to split");
}

/// How the model is trained and split.
void check_model_training(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"model"})) return;
  if (const auto* t = std::get_if<Transformer>(&s.model.shape)) {
    check_transformer_training(s, *t, keys);
  } else {
    check_without_tokens(s, keys);
  }
  if (const auto* r = std::get_if<ResNet>(&s.model.shape)) check_resnet_training(s, *r, keys);
  if (std::holds_alternative<Dlrm>(s.model.shape)) check_dlrm_training(s, keys);
  check_loss(s, keys);
  check_images(s, keys);
  check_absent_parts(s, keys);
}

/// Whether the GPU's profile has what the training asks for.
void check_profile(const Scenario& s, const KeyReports& keys) {
  if (!keys.sound({"cluster"})) return;
  const GpuProfile& gpu = s.cluster.gpu;
  std::vector<std::string> precisions;
  for (const GemmProfile& gemm : gpu.gemm) precisions.push_back(name_of(gemm.precision));
  keys.check_name("training.precision", name_of(s.training.precision), precisions,
                  fmt::format("a precision of GPU profile '{}'", gpu.name));
  std::vector<std::string> kernels = attention_kernels(gpu);
  kernels.insert(kernels.begin(), {kAutoAttention, kUnfusedAttention, kEagerAttention});
  keys.check_name("training.attention", s.training.attention, kernels,
                  fmt::format("an attention kernel of GPU profile '{}', which has {}", gpu.name,
                              fmt::join(kernels, ", ")));
}

}  // namespace

void check_model(const Model& model, Reading& reading) { check_model(model, KeyReports(reading)); }

void check_cluster(const Cluster& cluster, Reading& reading) {
  check_cluster(cluster, KeyReports(reading));
}

void check_scenario(const Scenario& s, const KnownNames& known, Reading& reading) {
  const KeyReports keys(reading);
  check_names(s, known, keys);
  check_optimizer(s, known, keys);
  check_model(s.model, keys);
  check_cluster(s.cluster, keys);
  check_energy(s, keys);
  check_topology(s.cluster, known, keys);
  check_link_names(s, known, keys);
  check_split(s, keys);
  check_pipeline(s, known, keys);
  check_pairs(s, known, keys);
  check_sharding(s, known, keys);
  check_gathers(s, keys);
  check_model_training(s, keys);
  check_profile(s, keys);
  check_kernels(s, known, keys);
  check_gradients(s, keys);
  check_recompute(s, known, keys);
  check_precision(s, keys);
  check_lora(s, keys);
  check_faults(s, keys);
  check_input(s, keys);
  check_host(s, keys);
  check_checkpoint(s, keys);
}

bool fits(const Scenario& s, const KnownNames& known, Choice choice) {
  const KeyReports keys;
  switch (choice) {
    case Choice::split:
      check_split(s, keys);
      if (!keys.broken()) check_pipeline(s, known, keys);
      if (!keys.broken()) check_pairs(s, known, keys);
      if (!keys.broken()) check_model_training(s, keys);
      if (!keys.broken()) check_lora(s, keys);
      break;
    case Choice::sharding:
      check_sharding(s, known, keys);
      check_pairs(s, known, keys);
      check_optimizer(s, known, keys);
      check_precision(s, keys);
      check_gradients(s, keys);
      break;
    case Choice::recompute:
      check_recompute(s, known, keys);
  }
  return !keys.broken();
}

}  // namespace stepsim
