// Gathers traits of scenarios and rows by kind, and compares one record with another.
#include "sim/validation/recorded_runs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include "sim/core/overloaded.hpp"
#include "sim/core/words.hpp"

namespace stepsim {
namespace {

/// The key that tells one entry of the record from another.
using Kind = std::tuple<std::string, RunTraits, std::string>;
using Kinds = std::map<Kind, RecordedRuns>;

Kinds kinds_of(const std::vector<RecordedRuns>& runs) {
  Kinds kinds;
  for (const RecordedRuns& run : runs) kinds[{run.suite, run.traits, run.known}] = run;
  return kinds;
}

std::vector<RecordedRuns> runs_of(const Kinds& kinds) {
  std::vector<RecordedRuns> runs;
  for (const auto& [kind, run] : kinds) {
    runs.push_back(run);
    std::ranges::sort(runs.back().errors);
    std::ranges::sort(runs.back().unseen);
    if (runs.back().unseen == runs.back().errors) runs.back().unseen.clear();
  }
  return runs;
}

std::set<std::string> suites_of(const std::vector<RecordedRuns>& runs) {
  std::set<std::string> suites;
  for (const RecordedRuns& run : runs) suites.insert(run.suite);
  return suites;
}

std::string title_of(const Kind& kind) {
  const auto& [suite, t, known] = kind;
  return fmt::format("{}, {} {} {}{} {} {} {}{}", suite, t.gpus, t.gpu, t.model,
                     t.layers.empty() ? "" : " of " + t.layers, t.precision, t.style, t.fabric,
                     known.empty() ? "" : ", known");
}

/// A mean error as the record writes it.
std::string mean_of(const std::vector<double>& errors) {
  return fmt::format("{:.2f} %", 100 * errors_of(errors).mean);
}

std::string change_of(const Kind& kind, const std::vector<double>* before,
                      const std::vector<double>* now) {
  const auto line = [&](const std::string& change) {
    return fmt::format("  {:<48} {}\n", title_of(kind), change);
  };
  if (now == nullptr) return line("gone");
  if (before == nullptr) return line("new, mean " + mean_of(*now));
  const bool as_many = before->size() == now->size();
  if (as_many && mean_of(*before) == mean_of(*now)) return "";
  return line(
      fmt::format("mean {} -> {}{}", mean_of(*before), mean_of(*now),
                  as_many ? "" : fmt::format(", rows {} -> {}", before->size(), now->size())));
}

/// Whether the GPU has tensor cores: CPUs and older GPUs have no products in tiles.
bool has_tensor_cores(const GpuProfile& gpu) {
  return std::ranges::any_of(gpu.gemm, [](const GemmProfile& gemm) {
    return std::holds_alternative<TiledGemm>(gemm.form);
  });
}

/// The family of a GPU: a100 for a100-80, and for a profile that `calibrate fit` called
/// a100-sxm4-80gb.
std::string family_of(const GpuProfile& gpu) {
  return in_lower_case(gpu.name.substr(0, gpu.name.find('-')));
}

const char* generation_of(const GpuProfile& gpu) {
  if (!has_tensor_cores(gpu)) return kNoGeneration;
  return kGenerations.at(static_cast<std::size_t>(gpu.architecture));
}

/// Gbit/s of the network that a GPU has in a DGX A100: no less is a fast fabric.
constexpr double kFastFabric = 200e9 / 8;

const char* fabric_of(const Cluster& cluster) {
  if (cluster.nodes == 1 || !cluster.inter_node) return "one node";
  // AWS's plugin alone reports a latency of its own.
  if (cluster.inter_node->plugin_latency > Seconds{0}) return "EFA";
  const double of_gpu = cluster.inter_node->bandwidth.base() * cluster.inter_node->nics_per_node /
                        cluster.gpus_per_node;
  return of_gpu >= kFastFabric ? "fast fabric" : "slow fabric";
}

/// The kind of a model. A model with adapters is a kind of its own: a step leaves out most of what
/// it does to weights, and small kernels stand in its place, so that its errors are others.
const char* kind_of(const Scenario& scenario) {
  const bool has_adapters = scenario.training.lora.has_value();
  return std::visit(Overloaded{[&](const Transformer& t) {
                                 if (t.experts) return "mixture of experts";
                                 return has_adapters ? "dense transformer with adapters"
                                                     : "dense transformer";
                               },
                               [](const ResNet&) { return "convolutional"; },
                               [](const Dlrm&) { return "recommendation"; },
                               [](const Mlp&) { return "linear layers"; }},
                    scenario.model.shape);
}

/// The tokens x hidden^2 of a layer on one GPU up to which the host may set the pace. Such a
/// layer's products, 24 FLOPs for each, take 0.8 ms forward on an A100, and three times as long
/// recomputed and backward; vTrain's layers of one node take 2.8 to 5 ms for all of them, however
/// small they are.
constexpr std::int64_t kSmallLayer = std::int64_t{1} << 33;

const char* layers_of(const Scenario& scenario) {
  const auto* transformer = std::get_if<Transformer>(&scenario.model.shape);
  if (transformer == nullptr) return "";
  const Parallelism& p = scenario.parallelism;
  const std::int64_t tokens =
      scenario.training.micro_batch * scenario.sequence_length() / p.context.degree;
  const std::int64_t work = tokens * transformer->hidden * transformer->hidden / p.tensor;
  return work <= kSmallLayer ? kSmallLayers : kLargeLayers;
}

std::string class_of(Precision precision) {
  if (needs_scales(precision)) return name_of(precision);
  return precision == Precision::fp16 || precision == Precision::bf16 ? "16-bit" : "32-bit";
}

}  // namespace

std::vector<RecordedRuns> recorded_runs(const std::vector<ValidationRow>& rows) {
  Kinds kinds;
  for (const ValidationRow& row : rows) {
    if (!row.predicted) continue;
    RecordedRuns& kind = kinds[{row.suite, row.traits, row.known}];
    kind.suite = row.suite;
    kind.traits = row.traits;
    kind.known = row.known;
    kind.publisher = row.publisher;
    kind.errors.push_back(row.error());
    kind.unseen.push_back(row.unseen_error());
  }
  return runs_of(kinds);
}

std::vector<RecordedRuns> updated(const std::vector<RecordedRuns>& record,
                                  const std::vector<RecordedRuns>& now) {
  const std::set<std::string> scored = suites_of(now);
  Kinds kinds = kinds_of(record);
  std::erase_if(kinds,
                [&](const auto& entry) { return scored.count(std::get<0>(entry.first)) > 0; });
  kinds.merge(kinds_of(now));
  return runs_of(kinds);
}

std::string difference(const std::vector<RecordedRuns>& record,
                       const std::vector<RecordedRuns>& now) {
  const std::set<std::string> scored = suites_of(now);
  const Kinds before = kinds_of(record), after = kinds_of(now);
  std::set<Kind> all;
  for (const Kinds* kinds : {&before, &after})
    for (const auto& [kind, errors] : *kinds)
      if (scored.count(std::get<0>(kind)) > 0) all.insert(kind);
  const auto find = [](const Kinds& kinds, const Kind& kind) {
    const auto found = kinds.find(kind);
    return found == kinds.end() ? nullptr : &found->second.errors;
  };
  std::string text;
  for (const Kind& kind : all) text += change_of(kind, find(before, kind), find(after, kind));
  return text;
}

RunTraits traits_of(const Scenario& scenario) {
  const GpuProfile& gpu = scenario.cluster.gpu;
  return {.gpu = family_of(gpu),
          .generation = generation_of(gpu),
          .model = kind_of(scenario),
          .layers = layers_of(scenario),
          .precision = class_of(scenario.training.precision),
          .fabric = fabric_of(scenario.cluster),
          .style = scenario.training.fusion,
          .gpus = scenario.cluster.gpus()};
}

}  // namespace stepsim
