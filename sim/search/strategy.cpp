// Strategies as scenarios, as settings and as words.
#include "sim/search/strategy.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "sim/core/registry.hpp"
#include "sim/scenario/check/check.hpp"
#include "sim/scenario/check/gather_keys.hpp"
#include "sim/scenario/describe/framework_abilities.hpp"
#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/describe/run_defaults.hpp"
#include "sim/scenario/expert_mesh.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// The layers of each part as a scenario states them; even parts need no list.
std::vector<std::int64_t> stated_layers(const Strategy& strategy, const Scenario& scenario) {
  const std::int64_t layers = layers_of(scenario.model);
  if (strategy.stages == 1 || layers % strategy.parts() == 0) return {};
  return dealt_layers(layers, strategy.parts());
}

/// Whether the framework sizes its buckets by the split.
bool counts_elements(const Strategy& strategy, const SearchBase& base) {
  const auto& framework = base.scenario.framework;
  return strategy.bucket == 0 && !base.stated.bucket && framework &&
         default_data(framework).bucket == Bytes{0};
}

std::string_view gathered_again(Reshard reshard) {
  switch (reshard) {
    case Reshard::all:
      return "all";
    case Reshard::layers:
      return "layers";
    case Reshard::none:
      return "nothing";
  }
  return "";
}

std::string recompute_setting(const Recomputation& recompute) {
  std::string kind{name_of(recompute.kind)};
  if (recompute == Recomputation(recompute.kind)) return kind;
  std::string text = "{kind: " + kind;
  if (recompute.kind == Recompute::selective) {
    std::vector<std::string> modules;
    for (const RecomputeModule module : recompute.modules) modules.emplace_back(name_of(module));
    return text + fmt::format(", modules: [{}]}}", fmt::join(modules, ", "));
  }
  if (recompute.method != RecomputeMethod::uniform || recompute.layers != 1)
    text += fmt::format(", method: {}, layers: {}", name_of(recompute.method), recompute.layers);
  if (recompute.early_stop) text += ", early_stop: true";
  return text + "}";
}

/// Settings, but those that say what the base says already.
class Settings {
 public:
  template <class T>
  void add(const std::string& path, const T& value, const T& base) {
    if (value != base) add(path, fmt::format("{}", value));
  }
  void add(const std::string& path, const std::string& value) {
    all_.push_back(path + "=" + value);
  }
  std::vector<std::string> take() { return std::move(all_); }

 private:
  std::vector<std::string> all_;
};

}  // namespace

std::string_view name_of(ModuleSet set) {
  constexpr std::array<std::string_view, kModuleSets> kWords{"selective", "layernorm", "mlp",
                                                             "every_second_matmul"};
  return kWords.at(static_cast<std::size_t>(set));
}

SearchBase search_base(Scenario scenario, StatedKeys stated) {
  SearchBase base{.scenario = std::move(scenario), .stated = stated};
  const auto* model = std::get_if<Transformer>(&base.scenario.model.shape);
  if (model == nullptr || !model->has_words() || base.scenario.training.lora) return base;
  using enum RecomputeModule;
  const auto keep = [&](ModuleSet set, const std::vector<RecomputeModule>& modules) {
    std::vector<RecomputeModule>& kept = base.modules.at(static_cast<std::size_t>(set));
    for (const RecomputeModule module : modules) {
      const auto& framework = base.scenario.framework;
      const bool can = !framework || framework_can(*framework, "training.recompute.modules",
                                                   name_of(module), false);
      if (can && has_module(*model, module)) kept.push_back(module);
    }
  };
  keep(ModuleSet::layernorm, {layernorm, mla_up_proj, moe_act});
  keep(ModuleSet::mlp, {layernorm, mla_up_proj, mlp, moe});
  if (has_seven_matmuls(base.scenario, *model))
    keep(ModuleSet::every_second_matmul, {every_second_matmul});
  auto& [own, light, most, second] = base.modules;
  if (most == light) most.clear();
  const Recomputation& recompute = base.scenario.training.recompute;
  for (auto* set : {&light, &most, &second})
    if (recompute.kind == Recompute::selective && recompute.modules == *set) set->clear();
  return base;
}

int distance(const Strategy& a, const Strategy& b) {
  const bool differs[] = {
      a.gpus != b.gpus,
      a.tensor != b.tensor,
      a.context != b.context,
      a.expert != b.expert || a.expert_tensor != b.expert_tensor,
      a.dispatcher != b.dispatcher,
      a.stages != b.stages,
      a.schedule != b.schedule || a.chunks != b.chunks,
      a.micro_batch != b.micro_batch,
      a.sequence != b.sequence,
      a.recompute != b.recompute || a.modules != b.modules ||
          a.recomputed_layers != b.recomputed_layers,
      a.sharding != b.sharding,
      a.overlap != b.overlap,
      a.bucket != b.bucket,
      a.reshard != b.reshard,
      a.shard_degree != b.shard_degree,
  };
  return static_cast<int>(std::ranges::count(differs, true));
}

std::vector<std::int64_t> dealt_layers(std::int64_t layers, int parts) {
  const std::int64_t most = (layers + parts - 1) / parts;
  const std::int64_t missing = most * parts - layers;
  if (missing > 2 || missing >= parts || (missing > 0 && most < 2)) return {};
  std::vector<std::int64_t> list(static_cast<std::size_t>(parts), most);
  if (missing > 0) --list.back();
  if (missing > 1) --list.front();
  return list;
}

Recomputation recomputation_of(const Strategy& strategy, const SearchBase& base) {
  const Recomputation& stated = base.scenario.training.recompute;
  Recomputation result(strategy.recompute);
  if (strategy.recompute != Recompute::none && strategy.recompute == stated.kind) {
    result.modules = stated.modules;
    result.early_stop = stated.early_stop;
  }
  if (strategy.modules != ModuleSet::stated)
    result.modules = base.modules.at(static_cast<std::size_t>(strategy.modules));
  if (strategy.recomputed_layers > 0) {
    result.method = RecomputeMethod::block;
    result.layers = strategy.recomputed_layers;
  }
  return result;
}

Strategy own_strategy(const Scenario& scenario) {
  const Parallelism& p = scenario.parallelism;
  const Recomputation& recompute = scenario.training.recompute;
  const bool some = recompute.kind == Recompute::full && recompute.method == RecomputeMethod::block;
  return {.gpus = scenario.cluster.gpus(),
          .tensor = p.tensor,
          .context = p.context.degree,
          .expert = p.expert.degree,
          .expert_tensor = expert_mesh(scenario).own_tensor ? *p.expert.tensor : 0,
          .dispatcher = {},
          .stages = p.pipeline.stages,
          .chunks = p.pipeline.chunks,
          .schedule = &schedule_of(scenario),
          .micro_batch = scenario.training.micro_batch,
          .sequence = p.sequence,
          .recompute = recompute.kind,
          .modules = ModuleSet::stated,
          .recomputed_layers = some ? recompute.layers : 0,
          .sharding = &sharding_named(p.data.sharding.name),
          .overlap = p.data.overlap,
          .bucket = 0,
          .reshard = {},
          .shard_degree = p.data.shard_degree.value_or(0)};
}

void set_data(DataParallel& data, const Strategy& strategy, const SearchBase& base) {
  const DataParallel& original = base.scenario.parallelism.data;
  const auto& framework = base.scenario.framework;
  const DataParallel preset = default_data(framework);
  data.sharding = *strategy.sharding;
  data.overlap = strategy.overlap;
  data.overlap_param_gather = original.overlap_param_gather;
  data.align_param_gather = original.align_param_gather;
  data.copy_out = original.copy_out;
  data.all_reduce_gradients = original.all_reduce_gradients;
  drop_idle_gathers(data);
  data.all_reduce_gradients |= preset.all_reduce_gradients && original.all_reduce_gradients;
  data.copy_out |= preset.copy_out && original.copy_out;
  const bool broadcasts =
      base.stated.broadcast_buffers ? original.broadcast_buffers : preset.broadcast_buffers;
  data.broadcast_buffers = broadcasts && strategy.sharding->shards() == 0;
  if (!base.stated.no_sync) data.no_sync = default_no_sync(framework, *strategy.sharding);
  if (base.stated.degree) data.degree = strategy.data();
  data.shard_degree.reset();
  if (strategy.shard_degree > 0) data.shard_degree = strategy.shard_degree;
  data.reshard_after_forward = strategy.reshard.value_or(original.reshard_after_forward);
  const bool as_it_is = strategy.bucket == 0;
  data.bucket = as_it_is ? original.bucket : Bytes{strategy.bucket};
  if (!base.stated.first_bucket) data.first_bucket = as_it_is ? original.first_bucket : data.bucket;
  if (!counts_elements(strategy, base)) return;
  data.bucket = Bytes{0};
  if (!base.stated.first_bucket) data.first_bucket = Bytes{0};
}

void set_strategy(Scenario& scenario, const Strategy& strategy, const SearchBase& base) {
  Parallelism& p = scenario.parallelism;
  scenario.cluster.nodes = strategy.gpus / scenario.cluster.gpus_per_node;
  p.tensor = strategy.tensor;
  p.sequence = strategy.sequence;
  const bool dtensor =
      base.scenario.parallelism.dtensor ||
      (!base.stated.dtensor && default_dtensor(base.scenario.framework, strategy.tensor));
  p.dtensor = dtensor && strategy.tensor > 1;
  p.gather_each = base.scenario.parallelism.gather_each && p.dtensor && p.sequence;
  p.context.degree = strategy.context;
  p.expert.degree = strategy.expert;
  p.expert.tensor =
      strategy.expert_tensor > 0 ? std::optional(strategy.expert_tensor) : std::nullopt;
  p.expert.dispatcher = strategy.dispatcher.value_or(base.scenario.parallelism.expert.dispatcher);
  // Numbers of SMs are those of one library.
  const bool is_own = p.expert.dispatcher == base.scenario.parallelism.expert.dispatcher;
  p.expert.sms = is_own ? base.scenario.parallelism.expert.sms : std::nullopt;
  // HybridEP's kernels pad by themselves.
  p.expert.router_padding = base.scenario.parallelism.expert.router_padding &&
                            (p.expert.degree == 1 || p.expert.dispatcher != Dispatcher::hybrid_ep);
  p.pipeline.stages = strategy.stages;
  p.pipeline.schedule = strategy.schedule->name;
  p.pipeline.chunks = strategy.chunks;
  if (!base.stated.overlap_p2p) {
    p.pipeline.overlap_p2p = strategy.chunks > 1 || strategy.schedule->needs.overlaps;
  }
  if (!base.stated.batch_p2p_sync) {
    p.pipeline.batch_p2p_sync = default_batch_p2p_sync(scenario.framework, p.pipeline.overlap_p2p);
  }
  p.pipeline.layers = stated_layers(strategy, scenario);
  scenario.training.micro_batch = strategy.micro_batch;
  scenario.training.recompute = recomputation_of(strategy, base);
  set_data(p.data, strategy, base);
  if (counts_elements(strategy, base)) size_buckets(scenario);
  if (base.stated.steps && base.stated.warmup) return;
  const Run run = run_defaults(scenario);
  if (!base.stated.steps) scenario.run.steps = run.steps;
  if (!base.stated.warmup) scenario.run.warmup = run.warmup;
}

std::vector<std::string> settings_of(const Strategy& strategy, const SearchBase& base) {
  const Scenario& s = base.scenario;
  Scenario changed = s;
  set_strategy(changed, strategy, base);
  const Parallelism &p = s.parallelism, &q = changed.parallelism;
  Settings settings;
  settings.add("cluster.nodes", changed.cluster.nodes, s.cluster.nodes);
  settings.add("parallelism.tensor", q.tensor, p.tensor);
  settings.add("parallelism.sequence", q.sequence, p.sequence);
  settings.add("parallelism.dtensor", q.dtensor, p.dtensor);
  settings.add("parallelism.gather_each", q.gather_each, p.gather_each);
  settings.add("parallelism.context.degree", q.context.degree, p.context.degree);
  settings.add("parallelism.expert.degree", q.expert.degree, p.expert.degree);
  if (q.expert.tensor != p.expert.tensor)
    settings.add("parallelism.expert.tensor",
                 q.expert.tensor ? fmt::format("{}", *q.expert.tensor) : std::string("~"));
  if (q.expert.dispatcher != p.expert.dispatcher)
    settings.add("parallelism.expert.dispatcher", std::string(name_of(q.expert.dispatcher)));
  if (q.expert.sms != p.expert.sms) settings.add("parallelism.expert.sms", "~");
  settings.add("parallelism.expert.router_padding", q.expert.router_padding,
               p.expert.router_padding);
  settings.add("parallelism.pipeline.stages", q.pipeline.stages, p.pipeline.stages);
  settings.add("parallelism.pipeline.schedule", q.pipeline.schedule, p.pipeline.schedule);
  settings.add("parallelism.pipeline.chunks", q.pipeline.chunks, p.pipeline.chunks);
  if (!base.stated.overlap_p2p && q.pipeline.overlap_p2p && q.pipeline.chunks == 1)
    settings.add("parallelism.pipeline.overlap_p2p", "true");
  if (q.pipeline.layers != p.pipeline.layers)
    settings.add("parallelism.pipeline.layers",
                 fmt::format("[{}]", fmt::join(q.pipeline.layers, ", ")));
  settings.add("training.micro_batch", changed.training.micro_batch, s.training.micro_batch);
  if (changed.training.recompute != s.training.recompute)
    settings.add("training.recompute", recompute_setting(changed.training.recompute));
  if (q.data.sharding != p.data.sharding)
    settings.add("parallelism.data.sharding", std::string(q.data.sharding.name));
  // What frameworks overlap depends on what is sharded.
  if (q.data.overlap != p.data.overlap || (s.framework && !base.stated.overlap))
    settings.add("parallelism.data.overlap", q.data.overlap ? "true" : "false");
  for (const DataSwitch& key : kGatherKeys)
    settings.add(std::string("parallelism.data.") + key.name, q.data.*key.value, p.data.*key.value);
  settings.add("parallelism.data.broadcast_buffers", q.data.broadcast_buffers,
               p.data.broadcast_buffers);
  if (strategy.bucket > 0)
    settings.add("parallelism.data.bucket", fmt::format("{}MiB", strategy.bucket / (1 << 20)));
  if (base.stated.degree && q.data.degree != p.data.degree)
    settings.add("parallelism.data.degree", fmt::format("{}", *q.data.degree));
  settings.add("parallelism.data.reshard_after_forward",
               std::string(name_of(q.data.reshard_after_forward)),
               std::string(name_of(p.data.reshard_after_forward)));
  if (q.data.shard_degree != p.data.shard_degree)
    settings.add("parallelism.data.shard_degree",
                 q.data.shard_degree ? fmt::format("{}", *q.data.shard_degree) : std::string("~"));
  return settings.take();
}

std::string degrees_text(const Strategy& s) {
  std::string text = fmt::format("tensor {}", s.tensor);
  if (s.context > 1) text += fmt::format(" x context {}", s.context);
  text += fmt::format(" x pipeline {} x data {}", s.stages, s.data());
  if (s.expert > 1) text += fmt::format(", experts over {}", s.expert);
  if (s.expert_tensor > 0) text += fmt::format(", each on {}", s.expert_tensor);
  if (s.dispatcher) text += fmt::format(" by {}", name_of(*s.dispatcher));
  return text;
}

std::string choices_text(const Strategy& s) {
  std::string text = fmt::format("micro-batch {}", s.micro_batch);
  if (s.stages > 1) text += fmt::format(", {}", s.schedule->name);
  if (s.chunks > 1) text += fmt::format(" x {}", s.chunks);
  if (s.sequence) text += ", sequence parallel";
  text += s.recompute == Recompute::none
              ? ", no recompute"
              : fmt::format(", recompute {}", s.modules == ModuleSet::stated
                                                  ? std::string_view(name_of(s.recompute))
                                                  : name_of(s.modules));
  if (s.recomputed_layers > 0)
    text += fmt::format(" of {} layer{} a chunk", s.recomputed_layers,
                        s.recomputed_layers == 1 ? "" : "s");
  if (s.replicas() == 1) return text;
  text += fmt::format(", {}{}", s.sharding->name, s.overlap ? " overlapped" : "");
  if (s.bucket > 0) text += fmt::format(" in {} MiB", s.bucket / (1 << 20));
  if (s.shard_degree > 0) text += fmt::format(" over {}", s.shard_degree);
  if (s.reshard) text += fmt::format(", gathers {} again", gathered_again(*s.reshard));
  return text;
}

std::string strategy_text(const Strategy& s) { return degrees_text(s) + ", " + choices_text(s); }

}  // namespace stepsim
