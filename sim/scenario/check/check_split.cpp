// Products of degrees against GPUs and batch.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/rank_order.hpp"

namespace stepsim {
namespace {

int model_ranks(const Parallelism& p) { return p.tensor * p.context.degree * p.pipeline.stages; }

/// "tensor 4 x pipeline 2", with context where there is any
std::string split_text(const Parallelism& p) {
  return p.context.degree == 1 ? fmt::format("tensor {} x pipeline {}", p.tensor, p.pipeline.stages)
                               : fmt::format("tensor {} x context {} x pipeline {}", p.tensor,
                                             p.context.degree, p.pipeline.stages);
}

void check_product(const Scenario& s, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (!keys.sound({"cluster", "parallelism.tensor", "parallelism.context.degree",
                   "parallelism.pipeline.stages", "parallelism.data.degree"}))
    return;
  const int gpus = s.cluster.gpus();
  if (p.data.degree) {
    const std::int64_t product = std::int64_t{model_ranks(p)} * *p.data.degree;
    if (product == gpus) return;
    keys.report({"parallelism.data.degree"}, "{} x data {} = {}, but the cluster has {} GPUs",
                split_text(p), *p.data.degree, product, gpus);
  } else if (gpus % model_ranks(p) != 0) {
    keys.report({p.pipeline.stages > 1 ? "parallelism.pipeline.stages"
                 : p.tensor > 1        ? "parallelism.tensor"
                                       : "parallelism.context.degree"},
                "{} = {} does not divide the cluster's {} GPUs", split_text(p), model_ranks(p),
                gpus);
  }
}

void check_order(const Scenario& s, const KeyReports& keys) {
  const Parallelism& p = s.parallelism;
  if (!splits(s, keys) || !keys.sound({"parallelism.order", "parallelism.expert.degree"})) return;
  const auto& order = p.order.axes;
  for (const Axis axis : kOrderedAxes) {
    const int degree = degree_of(axis, s);
    if (degree == 1 || std::ranges::find(order, axis) != order.end()) continue;
    keys.report({"parallelism.order", fmt::format("the default is {}", write_scalar(RankOrder{}))},
                "order {} leaves out {}, which splits into {}", write_scalar(p.order),
                words_of(axis).order, degree);
  }
}

void check_batch(const Scenario& s, const KeyReports& keys) {
  if (!splits(s, keys) || !keys.sound({"training.global_batch", "training.micro_batch"})) return;
  const std::int64_t pass = s.training.micro_batch * s.data_parallel();
  if (s.training.global_batch % pass == 0) return;
  keys.report({"training.global_batch"},
              "micro_batch {} x data {} = {} does not divide global_batch {}",
              s.training.micro_batch, s.data_parallel(), pass, s.training.global_batch);
}

void check_split_products(const Parallelism& p, const KeyReports& keys) {
  if (p.split_products == SplitProducts::none ||
      !keys.sound({"parallelism.tensor", "parallelism.sequence", "parallelism.split_products"}))
    return;
  if (p.tensor == 1 || !p.sequence)
    keys.report({"parallelism.split_products", "state \"sequence: true\" and tensor ranks"},
                "split_products is about tensor ranks that split the tokens between layers");
}

void check_dtensor(const Parallelism& p, const KeyReports& keys) {
  if (!p.dtensor || p.tensor > 1 || !keys.sound({"parallelism.tensor"})) return;
  keys.report({"parallelism.dtensor", "leave it out"},
              "dtensor is about tensor parallelism, but tensor is 1");
}

}  // namespace

bool splits(const Scenario& s, const KeyReports& keys) {
  return keys.sound({"cluster", "parallelism.tensor", "parallelism.context.degree",
                     "parallelism.pipeline.stages", "parallelism.data.degree"}) &&
         s.cluster.gpus() % model_ranks(s.parallelism) == 0;
}

void check_split(const Scenario& scenario, const KeyReports& keys) {
  check_product(scenario, keys);
  check_order(scenario, keys);
  check_batch(scenario, keys);
  check_split_products(scenario.parallelism, keys);
  check_dtensor(scenario.parallelism, keys);
}

}  // namespace stepsim
