// Changes of the GPUs' own work: faster, equally fast, less recomputed, in larger or smaller
// pieces.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/ops/work.hpp"
#include "sim/plan/fault/slowest_gpu.hpp"
#include "sim/plan/what_if.hpp"
#include "sim/scenario/describe/default_attention.hpp"

namespace stepsim {
namespace {

std::vector<Change> faster(const Scenario&) {
  return {{.title = "GPUs twice as fast",
           .plan = [](Plan plan) { return with_faster_gpus(std::move(plan), 2); }}};
}

std::vector<Change> alike(const Scenario& scenario) {
  if (pace_of_slowest(scenario).compute <= 1) return {};
  // The factors of slow GPUs multiply the pace that all GPUs have.
  return {{.title = scenario.faults.slow_gpus.empty()
                        ? "all GPUs as fast as the mean one"
                        : "all GPUs as fast as the mean one, slow ones times their factors",
           .scenario = [](Scenario& changed) { changed.faults.gpu_spread = 0; }}};
}

std::vector<Change> less_recompute(const Scenario& scenario) {
  std::vector<Change> changes;
  const Recompute kind = scenario.training.recompute.kind;
  if (kind == Recompute::full) changes.push_back({.settings = {"training.recompute=selective"}});
  if (kind != Recompute::none) changes.push_back({.settings = {"training.recompute=none"}});
  return changes;
}

std::vector<Change> other_attention(const Scenario& scenario) {
  std::vector<Change> changes;
  if (!std::holds_alternative<Transformer>(scenario.model.shape)) return changes;
  std::vector<std::string> kernels = attention_kernels(scenario.cluster.gpu);
  // The first of several changes that help as much is named, which is to be no older kernel than
  // would run by default.
  const auto usual = std::ranges::find(kernels, default_attention(scenario));
  if (usual != kernels.end()) std::rotate(kernels.begin(), usual, usual + 1);
  for (const std::string& kernel : kernels) {
    if (kernel != scenario.training.attention)
      changes.push_back({.settings = {"training.attention=" + kernel}});
  }
  return changes;
}

/// A change to a vocabulary whose logits fill whole loads of the tensor cores.
std::vector<Change> padded_vocabulary(const Scenario& scenario) {
  const auto* model = std::get_if<Transformer>(&scenario.model.shape);
  // Megatron-LM pads with make-vocab-size-divisible-by.
  if (model == nullptr || !model->has_words() || scenario.training.vocabulary_multiple ||
      scenario.parallelism.tensor > 1 ||
      alignment_of(model->vocabulary, model->hidden) >= kAlignedElements)
    return {};
  return {{.settings = {"training.vocabulary_multiple=128"}}};
}

std::vector<Change> tuned_convolutions(const Scenario& scenario) {
  if (scenario.training.convolution_autotuning) return {};
  return {{.settings = {"training.convolution_autotuning=true"}}};
}

/// Changes to other micro-batches of an unchanged global batch.
std::vector<Change> other_micro_batches(const Scenario& scenario) {
  std::vector<Change> changes;
  const std::int64_t now = scenario.training.micro_batch;
  const std::int64_t replica = scenario.training.global_batch / scenario.data_parallel();
  for (const std::int64_t size : {now / 4, now / 2, now * 2, now * 4}) {
    if (size >= 1 && replica % size == 0)
      changes.push_back({.settings = {fmt::format("training.micro_batch={}", size)}});
  }
  return changes;
}

const Registered<Proposal> gpus{{.name = "gpus", .changes = faster}};
const Registered<Proposal> equal_gpus{{.name = "equal-gpus", .changes = alike}};
const Registered<Proposal> recompute{{.name = "recompute", .changes = less_recompute}};
const Registered<Proposal> attention{{.name = "attention", .changes = other_attention}};
const Registered<Proposal> vocabulary{{.name = "vocabulary", .changes = padded_vocabulary}};
const Registered<Proposal> convolutions{{.name = "convolutions", .changes = tuned_convolutions}};
const Registered<Proposal> batches{{.name = "micro-batches", .changes = other_micro_batches}};

}  // namespace
}  // namespace stepsim
