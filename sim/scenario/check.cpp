// The sentences about keys that do not fit together.
#include "sim/scenario/check.hpp"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include <fmt/ranges.h>

#include "sim/core/suggest.hpp"
#include "sim/scenario/check_kinds.hpp"
#include "sim/scenario/check_precision.hpp"
#include "sim/scenario/check_recompute.hpp"
#include "sim/scenario/check_transformer.hpp"
#include "sim/scenario/key_reports.hpp"

namespace stepsim {
namespace {

/// The scenario under test, and where its keys stand.
class Checker : KeyReports {
 public:
  Checker(const Scenario& scenario, Reading& reading, const KnownNames& known = {})
      : KeyReports(reading), s(scenario), p(scenario.parallelism), known_(known) {}

  void check_model() const;
  void check_cluster() const;
  void check_split() const;
  void check_order() const;
  void check_batch() const;
  void check_pipeline() const;
  void check_schedule() const;
  void check_sharding() const;
  void check_shard_degree() const;
  void check_training() const;
  void check_recompute() const;
  void check_precision() const;
  void check_names() const;
  void check_flops() const;
  void check_optimizer() const;

 private:
  void check_dense_only() const;
  void check_uneven() const;
  void check_name(const char* path, const std::string& name, const std::vector<std::string>& known,
                  std::string_view title) const;
  /// What a pipeline deals out.
  std::int64_t layers() const {
    if (const auto* r = std::get_if<ResNet>(&s.model.shape))
      return std::accumulate(r->blocks.begin(), r->blocks.end(), std::int64_t{0});
    if (std::holds_alternative<Dlrm>(s.model.shape)) return 1;
    if (const auto* m = std::get_if<Mlp>(&s.model.shape)) return m->layers;
    return std::get<Transformer>(s.model.shape).layers;
  }
  /// What the schedule asks for; nullptr when it is not known.
  const ScheduleNeeds* schedule() const {
    const auto found =
        std::find_if(known_.schedules.begin(), known_.schedules.end(),
                     [&](const KnownSchedule& known) { return known.name == p.pipeline.schedule; });
    return found == known_.schedules.end() ? nullptr : &found->needs;
  }
  /// The schedules that run at least so many chunks per stage.
  std::vector<std::string> schedules_with(int chunks) const {
    std::vector<std::string> names;
    for (const KnownSchedule& known : known_.schedules) {
      if (known.needs.most_chunks >= chunks) names.push_back(known.name);
    }
    return names;
  }
  /// Different parts of the model per stage.
  int parts_per_stage() const {
    return std::max(p.pipeline.chunks / (schedule() == nullptr ? 1 : schedule()->copies), 1);
  }
  int model_ranks() const { return p.tensor * p.context.degree * p.pipeline.stages; }
  /// "tensor 4 x pipeline 2", with context where there is any
  std::string split_text() const {
    return p.context.degree == 1
               ? fmt::format("tensor {} x pipeline {}", p.tensor, p.pipeline.stages)
               : fmt::format("tensor {} x context {} x pipeline {}", p.tensor, p.context.degree,
                             p.pipeline.stages);
  }
  /// Whether the number of data-parallel ranks is known and whole.
  bool splits() const {
    return sound({"cluster", "parallelism.tensor", "parallelism.context.degree",
                  "parallelism.pipeline.stages", "parallelism.data.degree"}) &&
           s.cluster.gpus() % model_ranks() == 0;
  }

  const Scenario& s;
  const Parallelism& p;
  const KnownNames known_;
};

// --- each part for itself

void Checker::check_model() const {
  if (!sound({"model"})) return;
  if (const auto* r = std::get_if<ResNet>(&s.model.shape)) check_resnet(*r, *this);
  if (const auto* d = std::get_if<Dlrm>(&s.model.shape)) check_dlrm(*d, *this);
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (t != nullptr) check_transformer(*t, *this);
}

void Checker::check_cluster() const {
  const Cluster& c = s.cluster;
  if (!sound({"cluster"})) return;
  if (c.nodes > 1 && !c.inter_node) {
    report("cluster.nodes",
           fmt::format("{} nodes need a network, but the cluster has no inter_node", c.nodes),
           "add \"inter_node: {bandwidth: <number> Gbit/s, latency: <number> us}\"");
  }
  if (c.gpus_per_node > 1 && c.intra_node.bandwidth.base() <= 0) {
    report("cluster.gpus_per_node",
           fmt::format("{} GPUs per node need a link, but the cluster has no intra_node",
                       c.gpus_per_node),
           "add \"intra_node: <link>\"");
  }
  if (!c.inter_node || c.nodes == 1) return;
  const int nics = c.inter_node->nics_per_node;
  if (nics > c.gpus_per_node || c.gpus_per_node % nics != 0) {
    report("cluster.inter_node.nics_per_node",
           fmt::format("nics_per_node {} does not divide gpus_per_node {}", nics, c.gpus_per_node));
  }
}

// --- the split

void Checker::check_split() const {
  if (!sound({"cluster", "parallelism.tensor", "parallelism.context.degree",
              "parallelism.pipeline.stages", "parallelism.data.degree"}))
    return;
  const int gpus = s.cluster.gpus();
  if (p.data.degree) {
    const std::int64_t product = std::int64_t{model_ranks()} * *p.data.degree;
    if (product == gpus) return;
    report("parallelism.data.degree", fmt::format("{} x data {} = {}, but the cluster has {} GPUs",
                                                  split_text(), *p.data.degree, product, gpus));
  } else if (gpus % model_ranks() != 0) {
    report(p.pipeline.stages > 1 ? "parallelism.pipeline.stages"
           : p.tensor > 1        ? "parallelism.tensor"
                                 : "parallelism.context.degree",
           fmt::format("{} = {} does not divide the cluster's {} GPUs", split_text(), model_ranks(),
                       gpus));
  }
}

void Checker::check_order() const {
  if (!splits() || !sound({"parallelism.order", "parallelism.expert.degree"})) return;
  const std::pair<Axis, int> degrees[] = {{Axis::tensor, p.tensor},
                                          {Axis::context, p.context.degree},
                                          {Axis::expert, p.expert.degree},
                                          {Axis::data, s.data_parallel()},
                                          {Axis::pipeline, p.pipeline.stages}};
  const auto& order = p.order.axes;
  for (const auto& [axis, degree] : degrees) {
    if (degree == 1 || std::find(order.begin(), order.end(), axis) != order.end()) continue;
    report("parallelism.order",
           fmt::format("order {} leaves out {}, which splits into {}", write_scalar(p.order),
                       name_of(axis), degree),
           fmt::format("the default is {}", write_scalar(RankOrder{})));
  }
}

void Checker::check_batch() const {
  if (!splits() || !sound({"training.global_batch", "training.micro_batch"})) return;
  const std::int64_t pass = s.training.micro_batch * s.data_parallel();
  if (s.training.global_batch % pass == 0) return;
  report("training.global_batch",
         fmt::format("micro_batch {} x data {} = {} does not divide global_batch {}",
                     s.training.micro_batch, s.data_parallel(), pass, s.training.global_batch));
}

void Checker::check_sharding() const {
  if (!sound({"parallelism.data.sharding", "parallelism.pipeline.stages"})) return;
  const Sharding sharding = p.data.sharding;
  if (p.pipeline.stages == 1) return;
  if (sharding == Sharding::zero3) {
    report("parallelism.data.sharding",
           fmt::format("zero3 with {} pipeline stages is not modelled: every micro-batch would "
                       "gather the parameters again",
                       p.pipeline.stages),
           "use zero1, or one stage");
  }
  const bool takes_turns = schedule() == nullptr ? p.pipeline.chunks > 1 : schedule()->takes_turns;
  if (sharding == Sharding::zero2 && !takes_turns) {
    report(
        "parallelism.data.sharding",
        fmt::format("zero2 with {} pipeline stages {} would reduce the gradients again after every "
                    "micro-batch",
                    p.pipeline.stages,
                    p.pipeline.chunks == 1 ? "of one chunk" : "and " + p.pipeline.schedule),
        "use zero1, or an interleaved schedule, which reduces after each group of micro-batches");
  }
}

void Checker::check_shard_degree() const {
  if (!p.data.shard_degree ||
      !sound({"parallelism.data.sharding", "parallelism.data.shard_degree"}))
    return;
  const int degree = *p.data.shard_degree;
  if (p.data.sharding == Sharding::ddp) {
    report("parallelism.data.shard_degree",
           fmt::format("shard_degree {}, but ddp shards nothing", degree),
           "state sharding: zero1, zero2 or zero3");
  }
  if (!splits()) return;
  if (s.data_parallel() % degree != 0) {
    return report(
        "parallelism.data.shard_degree",
        fmt::format("shard_degree {} does not divide data {}", degree, s.data_parallel()));
  }
  const int sharing = degree * p.context.degree;
  if (!sound({"parallelism.expert.degree"}) || sharing % p.expert.degree == 0) return;
  report("parallelism.data.shard_degree",
         fmt::format("shard_degree {} x context {} = {} is no multiple of expert degree {}: the "
                     "ranks that share a copy need all experts",
                     degree, p.context.degree, sharing, p.expert.degree));
}

// --- the pipeline

void Checker::check_pipeline() const {
  if (!sound({"model", "parallelism.pipeline"})) return;
  const bool is_dealt_out = std::holds_alternative<Transformer>(s.model.shape) ||
                            std::holds_alternative<Mlp>(s.model.shape);
  if (!is_dealt_out && p.pipeline.stages > 1) return;  // refused
  if (!p.pipeline.layers.empty()) return check_uneven();
  const std::int64_t parts = std::int64_t{p.pipeline.stages} * parts_per_stage();
  if (layers() % parts == 0) return;
  const std::string product =
      parts_per_stage() == 1
          ? fmt::format("stages {}", p.pipeline.stages)
          : fmt::format("stages {} x chunks {} = {}", p.pipeline.stages, parts_per_stage(), parts);
  report(stated("parallelism.pipeline.stages") ? "parallelism.pipeline.stages"
                                               : "parallelism.pipeline.chunks",
         fmt::format("{} do not divide {} layers", product, layers()),
         layers() > parts ? "state pipeline.layers to split unevenly" : "");
}

void Checker::check_uneven() const {
  const auto& list = p.pipeline.layers;
  const auto parts =
      static_cast<std::size_t>(p.pipeline.stages) * static_cast<std::size_t>(parts_per_stage());
  if (list.size() != parts) {
    const std::string wanted =
        parts_per_stage() == p.pipeline.chunks
            ? fmt::format("stages {} x chunks {} = {}", p.pipeline.stages, p.pipeline.chunks, parts)
            : fmt::format("{} with {} stages cuts the model into {} parts", p.pipeline.schedule,
                          p.pipeline.stages, parts);
    return report("parallelism.pipeline.layers",
                  fmt::format("pipeline.layers has {} entries, but {}", list.size(), wanted));
  }
  const std::int64_t sum = std::accumulate(list.begin(), list.end(), std::int64_t{0});
  if (sum == layers()) return;
  report("parallelism.pipeline.layers",
         fmt::format("pipeline.layers sums to {}, but the model has {} layers", sum, layers()));
}

void Checker::check_schedule() const {
  if (!sound({"parallelism.pipeline.schedule", "parallelism.pipeline.chunks",
              "parallelism.pipeline.stages"}))
    return;
  if (schedule() == nullptr) return;
  const ScheduleNeeds& needs = *schedule();
  const Pipeline& pipeline = p.pipeline;
  if (needs.least_chunks > 1 && (pipeline.chunks < needs.least_chunks || pipeline.stages < 2)) {
    return report(
        "parallelism.pipeline.schedule",
        fmt::format("{} needs at least 2 stages and {} chunks, but there are {} and {}",
                    pipeline.schedule, needs.least_chunks, pipeline.stages, pipeline.chunks));
  }
  if (pipeline.chunks > needs.most_chunks) {
    return report("parallelism.pipeline.chunks",
                  fmt::format("chunks {}, but schedule {} runs {} per stage", pipeline.chunks,
                              pipeline.schedule, needs.most_chunks),
                  fmt::format("schedules with {}: {}", pipeline.chunks,
                              fmt::join(schedules_with(pipeline.chunks), ", ")));
  }
  if (needs.overlaps && !pipeline.overlap_p2p && sound({"parallelism.pipeline.overlap_p2p"})) {
    report("parallelism.pipeline.overlap_p2p",
           fmt::format("{} sends and receives beside compute: without overlap_p2p its stages would "
                       "wait for each other in a circle",
                       pipeline.schedule));
  }
  if (needs.objection == nullptr || !splits() ||
      !sound({"training.global_batch", "training.micro_batch"}))
    return;
  const std::string objection = needs.objection(pipeline.stages, s.micro_batches());
  if (objection.empty()) return;
  report("parallelism.pipeline.schedule", pipeline.schedule + " " + objection);
}

// --- training

void Checker::check_training() const {
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (sound({"model"})) {
    if (t != nullptr) check_transformer_training(s, *t, *this);
    if (std::holds_alternative<Mlp>(s.model.shape)) check_without_tokens(s, "an MLP", *this);
    if (const auto* r = std::get_if<ResNet>(&s.model.shape)) {
      check_without_tokens(s, "a ResNet", *this);
      check_resnet_training(s, *r, *this);
    }
    if (std::holds_alternative<Dlrm>(s.model.shape)) {
      check_without_tokens(s, "a DLRM", *this);
      check_dlrm_training(s, *this);
    } else if (sound({"parallelism.embedding"}) && p.embedding != EmbeddingSplit::table) {
      report("parallelism.embedding", "the model has no embedding tables to deal out");
    }
    if (t == nullptr || !t->experts) check_dense_only();
  }
  if (!sound({"cluster"})) return;
  const GpuProfile& gpu = s.cluster.gpu;
  std::vector<std::string> precisions;
  for (const GemmProfile& gemm : gpu.gemm) precisions.push_back(name_of(gemm.precision));
  check_name("training.precision", name_of(s.training.precision), precisions,
             fmt::format("a precision of GPU profile '{}'", gpu.name));
  std::vector<std::string> kernels = attention_kernels(gpu);
  kernels.insert(kernels.begin(), "unfused");
  check_name("training.attention", s.training.attention, kernels,
             fmt::format("an attention kernel of GPU profile '{}', which has {}", gpu.name,
                         fmt::join(kernels, ", ")));
}

void Checker::check_recompute() const {
  if (!sound({"training.recompute", "model", "parallelism.data.sharding"})) return;
  std::vector<std::int64_t> of_parts;
  if (sound({"parallelism.pipeline"})) {
    of_parts = p.pipeline.layers;
    const std::int64_t parts = std::int64_t{p.pipeline.stages} * parts_per_stage();
    if (of_parts.empty() && layers() % parts == 0) of_parts = {layers() / parts};
  }
  for (const Objection& objection : recompute_objections(s, of_parts))
    report(objection.path, objection.message, objection.proposal);
}

void Checker::check_precision() const {
  if (!sound({"training.precision", "training.gradients", "training.fp8_scaling", "cluster"}))
    return;
  for (const Objection& objection : precision_objections(s))
    report(objection.path, objection.message, objection.proposal);
}

void Checker::check_dense_only() const {
  if (sound({"parallelism.expert"}) && p.expert != ExpertParallel{}) {
    report("parallelism.expert", "the model has no experts to split");
  }
}

// --- names that other rooms own

void Checker::check_name(const char* path, const std::string& name,
                         const std::vector<std::string>& known, std::string_view title) const {
  if (!sound({path}) || std::find(known.begin(), known.end(), name) != known.end()) return;
  report(path, fmt::format("{} is not {}", quoted(name), title), did_you_mean(name, known));
}

void Checker::check_flops() const {
  if (known_.conventions.empty() || !sound({"run.flops", "model"})) return;
  std::vector<std::string> names, of_any_model;
  for (const KnownConvention& convention : known_.conventions) {
    names.push_back(convention.name);
    if (convention.any_model) of_any_model.push_back(convention.name);
  }
  check_name("run.flops", s.run.flops, names, "a convention of FLOPs");
  const bool known = std::find(names.begin(), names.end(), s.run.flops) != names.end();
  const bool fits =
      std::find(of_any_model.begin(), of_any_model.end(), s.run.flops) != of_any_model.end();
  if (!known || fits || std::holds_alternative<Transformer>(s.model.shape)) return;
  report(
      "run.flops",
      fmt::format("{} counts a transformer's FLOPs, but '{}' is none", s.run.flops, s.model.name),
      fmt::format("use {}", fmt::join(of_any_model, " or ")));
}

void Checker::check_optimizer() const {
  if (known_.optimizers.empty() || !sound({"training.optimizer"})) return;
  std::vector<std::string> names;
  for (const KnownOptimizer& optimizer : known_.optimizers) names.push_back(optimizer.name);
  check_name("training.optimizer", s.training.optimizer, names, "an optimizer");
  for (const KnownOptimizer& optimizer : known_.optimizers) {
    if (optimizer.name != s.training.optimizer) continue;
    if (optimizer.whole_tensors && p.data.sharding != Sharding::ddp) {
      report("training.optimizer",
             fmt::format("{} needs the norms of whole tensors, but {} gives each rank a part",
                         optimizer.name, name_of(p.data.sharding)),
             "use sharding: ddp");
    }
    if (!optimizer.has_foreach && s.training.optimizer_kernels != OptimizerKernels::fused) {
      report("training.optimizer_kernels",
             fmt::format("{} has fused kernels only, not {}", optimizer.name,
                         name_of(s.training.optimizer_kernels)),
             "use fused");
    }
  }
  if (p.data.offload_optimizer && s.training.optimizer_kernels != OptimizerKernels::fused) {
    report("training.optimizer_kernels", "an offloaded optimizer has no kernels on the GPU",
           "use fused");
  }
}

void Checker::check_names() const {
  if (!known_.schedules.empty()) {
    check_name("parallelism.pipeline.schedule", p.pipeline.schedule, schedules_with(1),
               "a pipeline schedule");
  }
  if (!known_.topologies.empty() && s.cluster.inter_node) {
    check_name("cluster.inter_node.topology", s.cluster.inter_node->topology, known_.topologies,
               "a topology");
  }
  if (known_.collectives.empty()) return;
  std::vector<std::string> collectives{"auto"};
  collectives.insert(collectives.end(), known_.collectives.begin(), known_.collectives.end());
  check_name("collectives.all_reduce", s.collectives.all_reduce, collectives, "a collective");
  check_name("collectives.all_gather", s.collectives.all_gather, collectives, "a collective");
  check_name("collectives.reduce_scatter", s.collectives.reduce_scatter, collectives,
             "a collective");
}

}  // namespace

void check_model(const Model& model, Reading& reading) {
  Scenario scenario;
  scenario.model = model;
  Checker(scenario, reading).check_model();
}

void check_cluster(const Cluster& cluster, Reading& reading) {
  Scenario scenario;
  scenario.cluster = cluster;
  Checker(scenario, reading).check_cluster();
}

void check_scenario(const Scenario& scenario, const KnownNames& known, Reading& reading) {
  const Checker checker(scenario, reading, known);
  checker.check_names();
  checker.check_flops();
  checker.check_optimizer();
  checker.check_model();
  checker.check_cluster();
  checker.check_split();
  checker.check_order();
  checker.check_batch();
  checker.check_pipeline();
  checker.check_schedule();
  checker.check_sharding();
  checker.check_shard_degree();
  checker.check_training();
  checker.check_recompute();
  checker.check_precision();
}

}  // namespace stepsim
