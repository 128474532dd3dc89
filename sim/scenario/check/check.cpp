// The sentences about keys that do not fit together.
#include "sim/scenario/check/check.hpp"

#include <fmt/ranges.h>

#include "sim/scenario/check/check_checkpoint.hpp"
#include "sim/scenario/check/check_faults.hpp"
#include "sim/scenario/check/check_gathers.hpp"
#include "sim/scenario/check/check_host.hpp"
#include "sim/scenario/check/check_input.hpp"
#include "sim/scenario/check/check_kinds.hpp"
#include "sim/scenario/check/check_lora.hpp"
#include "sim/scenario/check/check_names.hpp"
#include "sim/scenario/check/check_pipeline.hpp"
#include "sim/scenario/check/check_precision.hpp"
#include "sim/scenario/check/check_recompute.hpp"
#include "sim/scenario/check/check_split.hpp"
#include "sim/scenario/check/check_topology.hpp"
#include "sim/scenario/check/check_transformer.hpp"
#include "sim/scenario/check/key_reports.hpp"

namespace stepsim {
namespace {

/// The scenario under test, and where its keys stand.
class Checker : KeyReports {
 public:
  Checker(const Scenario& scenario, Reading& reading, const KnownNames& known = {})
      : KeyReports(reading), s(scenario), p(scenario.parallelism), known_(known) {}

  void check_model() const;
  void check_cluster() const;
  void check_sharding() const;
  void check_shard_degree() const;
  void check_training() const;
  void check_layers() const;
  void check_gather_each() const;
  void check_composed() const;
  void check_fp32_parts() const;
  void check_gradients() const;
  void check_loss() const;
  void check_bias_dropout() const;
  void check_recompute() const;
  void check_precision() const;
  void check_lora() const;

 private:
  void check_dense_only() const;
  void check_used_gradients() const;

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

// --- sharding

void Checker::check_sharding() const {
  if (!sound({"parallelism.data.sharding", "parallelism.pipeline.stages"})) return;
  const Sharding& sharding = p.data.sharding;
  if (p.data.broadcast_buffers && sharding.shards() > 0) {
    report("parallelism.data.broadcast_buffers",
           fmt::format("broadcast_buffers is about ddp, but sharding is {}", sharding.name),
           "leave it out");
  }
  if (p.pipeline.stages == 1) return;
  if (sharding.shards_parameters) {
    report("parallelism.data.sharding",
           fmt::format("{} with {} pipeline stages is not modelled: every micro-batch would gather "
                       "the parameters again",
                       sharding.name, p.pipeline.stages),
           "use zero1, or one stage");
  }
  const ScheduleNeeds* needs = needs_of(s, known_);
  const bool takes_turns = needs == nullptr ? p.pipeline.chunks > 1 : needs->takes_turns;
  if (sharding.shards_gradients && !sharding.shards_parameters && !takes_turns) {
    report(
        "parallelism.data.sharding",
        fmt::format("{} with {} pipeline stages {} would reduce the gradients again after every "
                    "micro-batch",
                    sharding.name, p.pipeline.stages,
                    p.pipeline.chunks == 1 ? "of one chunk" : "and " + p.pipeline.schedule),
        "use zero1, or an interleaved schedule, which reduces after each group of micro-batches");
  }
}

void Checker::check_shard_degree() const {
  if (!p.data.shard_degree ||
      !sound({"parallelism.data.sharding", "parallelism.data.shard_degree"}))
    return;
  const int degree = *p.data.shard_degree;
  if (p.data.sharding.shards() == 0) {
    report("parallelism.data.shard_degree",
           fmt::format("shard_degree {}, but ddp shards nothing", degree),
           "state sharding: zero1, zero2 or zero3");
  }
  if (!splits(s, *this)) return;
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

// --- training

void Checker::check_training() const {
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (sound({"model"})) {
    if (t != nullptr) check_transformer_training(s, *t, *this);
    if (std::holds_alternative<Mlp>(s.model.shape)) check_without_tokens(s, "an MLP", *this);
    if (const auto* r = std::get_if<ResNet>(&s.model.shape)) {
      check_without_tokens(s, "a ResNet", *this);
      check_resnet_training(s, *r, *this);
    } else if (s.training.fp32_batch_norms) {
      report("training.fp32_batch_norms", "the model has no batch norms");
    }
    if (std::holds_alternative<Dlrm>(s.model.shape)) {
      check_without_tokens(s, "a DLRM", *this);
      check_dlrm_training(s, *this);
    } else {
      if (sound({"parallelism.embedding"}) && p.embedding != EmbeddingSplit::table)
        report("parallelism.embedding", "the model has no embedding tables to deal out");
      if (sound({"parallelism.bottom_mlp"}) && p.bottom_mlp != BottomMlp::each)
        report("parallelism.bottom_mlp", "the model has no bottom MLP to place");
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
  kernels.insert(kernels.begin(), {kUnfusedAttention, kEagerAttention});
  check_name("training.attention", s.training.attention, kernels,
             fmt::format("an attention kernel of GPU profile '{}', which has {}", gpu.name,
                         fmt::join(kernels, ", ")));
}

/// Whether the list names something twice.
template <class Kind>
bool has_twins(std::vector<Kind> list) {
  std::ranges::sort(list);
  return std::ranges::adjacent_find(list) != list.end();
}

void Checker::check_layers() const {
  if (!sound({"model"}) || std::holds_alternative<Transformer>(s.model.shape)) return;
  if (!s.training.fused_qkv)
    report("training.fused_qkv", "the model has no queries, keys and values", "leave it out");
  if (s.training.embedding_lookup != EmbeddingLookup::index)
    report("training.embedding_lookup", "the model has no tokens to look up", "leave it out");
}

void Checker::check_gather_each() const {
  if (!p.gather_each || !sound({"model", "parallelism.dtensor", "parallelism.sequence"})) return;
  const char* key = "parallelism.gather_each";
  if (!p.dtensor || !p.sequence) {
    report(key,
           fmt::format("gather_each is about DTensor's sequence-parallel tensors, but {} is false",
                       p.dtensor ? "sequence" : "dtensor"),
           "leave it out, or state dtensor and sequence");
    return;
  }
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (t != nullptr && s.training.fused_qkv && !t->gated_mlp) {
    report(key,
           "gather_each: no two linear layers have one input, with fused_qkv and an MLP without a "
           "gate",
           "leave it out");
  }
}

void Checker::check_composed() const {
  const std::vector<ComposedOperation>& composed = s.training.composed;
  const char* key = "training.composed";
  if (has_twins(composed)) report(key, "composed names an operation twice", "name each once");
  if (composed.empty() || !sound({"model"})) return;
  const auto has = [&](ComposedOperation operation) {
    return std::ranges::find(composed, operation) != composed.end();
  };
  if (s.training.fusion != Fusion::none) {
    report(key, "composed operations have a kernel for each elementary one, but kernels are fused",
           "leave them out, or state fusion: none");
  }
  if (has(ComposedOperation::softmax) && s.training.attention != kEagerAttention) {
    report(key,
           fmt::format("softmax is a kernel on its own in eager attention, but attention is {}",
                       s.training.attention),
           "leave it out, or state attention: eager");
  }
  const auto* model = std::get_if<Transformer>(&s.model.shape);
  if (model == nullptr) {
    report(key, "composed operations are those of a transformer's layers", "leave them out");
    return;
  }
  if (has(ComposedOperation::activation) && model->gated_mlp) {
    report(key, "the activation that is known composed is GELU, but the model's is gated",
           "leave it out");
  }
  if (has(ComposedOperation::dropout) && !model->dropout)
    report(key, "dropout is composed, but the model has none", "leave it out");
  if (has(ComposedOperation::norm) && model->rms_norm) {
    report(key, "the norm that is known composed is LayerNorm, but the model has RMSNorm",
           "leave it out");
  }
}

void Checker::check_fp32_parts() const {
  const std::vector<LayerPart>& parts = s.training.fp32_parts;
  if (has_twins(parts))
    report("training.fp32_parts", "fp32_parts names a part twice", "name each once");
  if (parts.empty() || !sound({"model"})) return;
  const char* key = "training.fp32_parts";
  if (!std::holds_alternative<Transformer>(s.model.shape))
    report(key, "fp32_parts are those of a transformer's layers", "leave them out");
  if (s.training.fusion == Fusion::compiled || s.training.fusion == Fusion::xla) {
    report(key, "fp32_parts have casts of their own, but compiled kernels cast as they go",
           "leave them out, or state another fusion");
  }
  const bool softmax = std::ranges::find(parts, LayerPart::softmax) != parts.end();
  if (softmax && s.training.attention != kEagerAttention) {
    report(key,
           fmt::format("softmax is a kernel on its own in eager attention, but attention is {}",
                       s.training.attention),
           "leave it out, or state attention: eager");
  }
}

/// Products that add to gradients find them in one buffer. What zero3 keeps are sums over ranks,
/// which no product makes.
void Checker::check_used_gradients() const {
  const bool by_kernels = !s.training.fused_accumulation || p.data.sharding.shards_parameters;
  if (by_kernels || !s.training.finds_gradients() || !stated("training.used_gradients") ||
      !sound({"training.fused_accumulation", "parallelism.data.sharding"}))
    return;
  report("training.used_gradients",
         fmt::format("used_gradients is {}: a kernel of its own adds to each gradient that is "
                     "found, but GEMMs add to them themselves",
                     name_of(s.training.used_gradients)),
         "state fused_accumulation: false, or use clear_buffer or free");
}

void Checker::check_gradients() const {
  check_used_gradients();
  if (s.training.per_micro_batch.empty()) return;
  if (has_twins(s.training.per_micro_batch))
    report("training.per_micro_batch", "per_micro_batch names a pass twice", "name each once");
  if (s.training.fused_accumulation) {
    report(
        "training.per_micro_batch",
        "per_micro_batch is about gradients that a kernel of its own adds, but GEMMs add to them "
        "themselves",
        "state fused_accumulation: false");
  }
  if (sound({"parallelism.data.sharding"}) && p.data.sharding.shards_parameters) {
    report(
        "training.per_micro_batch",
        fmt::format("per_micro_batch is about gradients that are kept whole, but {} reduces each "
                    "micro-batch's at once",
                    p.data.sharding.name),
        "leave it out, or state another sharding");
  }
}

/// Where ranks split the vocabulary, and where a library computes the loss, it is not compiled
/// either: to say so is right, and changes nothing.
void Checker::check_loss() const {
  if (!s.training.eager_loss || s.training.fusion == Fusion::compiled) return;
  report("training.eager_loss",
         fmt::format("eager_loss is about a loss beside compiled layers, but fusion is {}",
                     name_of(s.training.fusion)),
         "leave it out, or state fusion: compiled");
}

void Checker::check_bias_dropout() const {
  if (s.training.bias_dropout_fusion || s.training.fusion == Fusion::fused) return;
  report("training.bias_dropout_fusion",
         fmt::format("bias_dropout_fusion is about what fusion fused joins, but fusion is {}",
                     name_of(s.training.fusion)),
         "leave it out, or state fusion: fused");
}

void Checker::check_recompute() const {
  if (!sound({"training.recompute", "model", "parallelism.data.sharding"})) return;
  std::vector<std::int64_t> of_parts;
  if (sound({"parallelism.pipeline"})) {
    of_parts = p.pipeline.layers;
    const std::int64_t parts = std::int64_t{p.pipeline.stages} * parts_per_stage(s, known_);
    if (of_parts.empty() && layers_of(s.model) % parts == 0)
      of_parts = {layers_of(s.model) / parts};
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

void Checker::check_lora() const {
  if (!sound({"training.lora", "training.recompute", "training.fused_qkv", "model",
              "parallelism.tensor", "parallelism.sequence", "parallelism.pipeline"}))
    return;
  for (const Objection& objection : lora_objections(s))
    report(objection.path, objection.message, objection.proposal);
}

void Checker::check_dense_only() const {
  if (sound({"parallelism.expert"}) && p.expert != ExpertParallel{}) {
    report("parallelism.expert", "the model has no experts to split");
  }
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
  const KeyReports keys(reading);
  const Checker checker(scenario, reading, known);
  check_names(scenario, known, keys);
  checker.check_model();
  checker.check_cluster();
  check_topology(scenario.cluster, known, keys);
  check_link_names(scenario, known, keys);
  check_split(scenario, keys);
  check_pipeline(scenario, known, keys);
  checker.check_sharding();
  checker.check_shard_degree();
  check_gathers(scenario, keys);
  checker.check_training();
  checker.check_layers();
  checker.check_gather_each();
  checker.check_composed();
  checker.check_fp32_parts();
  checker.check_gradients();
  checker.check_loss();
  checker.check_bias_dropout();
  checker.check_recompute();
  checker.check_precision();
  checker.check_lora();
  check_faults(scenario, keys);
  check_input(scenario, keys);
  check_host(scenario, keys);
  check_checkpoint(scenario, keys);
}

}  // namespace stepsim
