// What is known, and what each name asks for.
#include <algorithm>

#include <fmt/ranges.h>

#include "sim/scenario/check/check.hpp"

namespace stepsim {
namespace {

void check_registered(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  if (!known.schedules.empty()) {
    keys.check_name("parallelism.pipeline.schedule", s.parallelism.pipeline.schedule,
                    schedules_with(known, 1), "a pipeline schedule");
  }
  if (!known.styles.empty()) {
    std::vector<std::string> styles;
    for (const KnownStyle& style : known.styles) styles.push_back(style.name);
    keys.check_name("training.fusion", s.training.fusion, styles, "a style of kernels");
  }
  if (known.collectives.empty()) return;
  std::vector<std::string> collectives{"auto"};
  collectives.insert(collectives.end(), known.collectives.begin(), known.collectives.end());
  for (const auto& [op, choice, lines] : kStatedCollectives) {
    const std::string path = fmt::format("collectives.{}.algorithm", name_of(op));
    keys.check_name(path.c_str(), (s.collectives.*choice).algorithm, collectives, "a collective");
  }
}

/// A line of an algorithm that nobody knows would not be used.
void check_lines(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  if (known.collectives.empty()) return;
  for (const auto& [op, choice, lines] : kStatedCollectives) {
    for (std::size_t i = 0; i < (s.cluster.intra_node.*lines).size(); ++i) {
      const std::string path = fmt::format("cluster.intra_node.{}[{}].algorithm", name_of(op), i);
      keys.check_name(path.c_str(), (s.cluster.intra_node.*lines)[i].algorithm, known.collectives,
                      "a collective");
    }
  }
}

void check_flops(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  if (known.conventions.empty() || !keys.sound({"run.flops", "model"})) return;
  std::vector<std::string> names, of_any_model, by_products;
  for (const KnownConvention& convention : known.conventions) {
    names.push_back(convention.name);
    if (convention.any_model) of_any_model.push_back(convention.name);
    if (!convention.by_parameters) by_products.push_back(convention.name);
  }
  keys.check_name("run.flops", s.run.flops, names, "a convention of FLOPs");
  const auto found = std::ranges::find(known.conventions, s.run.flops, &KnownConvention::name);
  if (found == known.conventions.end()) return;
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (t == nullptr && !found->any_model) {
    keys.report({"run.flops", fmt::format("use {}", fmt::join(of_any_model, " or "))},
                "{} counts a transformer's FLOPs, but '{}' is none", s.run.flops, s.model.name);
  } else if (t != nullptr && t->diffusion && found->by_parameters) {
    keys.report({"run.flops", fmt::format("use {}", fmt::join(by_products, " or "))},
                "{} counts all parameters for each token, but those that condition the layers of "
                "'{}' see a sample once",
                s.run.flops, s.model.name);
  }
}

bool has_kernels(const KnownOptimizer& optimizer, OptimizerKernels kernels) {
  switch (kernels) {
    case OptimizerKernels::fused:
      return true;
    case OptimizerKernels::foreach_op:
    case OptimizerKernels::per_tensor:
      return optimizer.has_foreach;
    case OptimizerKernels::composed:
      return optimizer.has_composed;
  }
  return false;
}

/// What a known optimizer asks of the sharding and of its kernels.
void check_known_optimizer(const Scenario& s, const KnownOptimizer& optimizer,
                           const KeyReports& keys) {
  const Sharding& sharding = s.parallelism.data.sharding;
  if (optimizer.whole_tensors && sharding.shards() > 0) {
    keys.report({"training.optimizer", "use sharding: ddp"},
                "{} needs the norms of whole tensors, but {} gives each rank a part",
                optimizer.name, sharding.name);
  }
  if (s.training.moments && !optimizer.has_moments) {
    keys.report({"training.moments", "leave it out"}, "{} has no moments whose type can be chosen",
                optimizer.name);
  } else if (s.training.moments == Precision::tf32) {
    keys.report({"training.moments", "use fp32"}, "tf32 is a type of products, not of memory");
  }
  if (has_kernels(optimizer, s.training.optimizer_kernels)) return;
  keys.report({"training.optimizer_kernels", "use optimizer_kernels: fused"},
              "{} has fused kernels{}, not {}", optimizer.name,
              optimizer.has_foreach ? ", foreach and per_tensor ones only" : " only",
              name_of(s.training.optimizer_kernels));
}

}  // namespace

void check_optimizer(const Scenario& s, const KnownNames& known, const KeyReports& keys) {
  if (known.optimizers.empty() || !keys.sound({"training.optimizer"})) return;
  const auto optimizer =
      std::ranges::find(known.optimizers, s.training.optimizer, &KnownOptimizer::name);
  if (optimizer != known.optimizers.end()) {
    check_known_optimizer(s, *optimizer, keys);
    check_matrix_updates(s, optimizer->matrices, keys);
  } else {
    std::vector<std::string> names;
    for (const KnownOptimizer& each : known.optimizers) names.push_back(each.name);
    keys.check_name("training.optimizer", s.training.optimizer, names, "an optimizer");
  }
  if (s.parallelism.data.offload_optimizer &&
      s.training.optimizer_kernels != OptimizerKernels::fused) {
    keys.report({"training.optimizer_kernels", "use optimizer_kernels: fused"},
                "an offloaded optimizer has no kernels on the GPU");
  }
}

void check_names(const Scenario& scenario, const KnownNames& known, const KeyReports& keys) {
  check_registered(scenario, known, keys);
  check_lines(scenario, known, keys);
  check_flops(scenario, known, keys);
}

}  // namespace stepsim
