// Walking the space.
#include "sim/search/space.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/load.hpp"
#include "sim/scenario/check/check.hpp"
#include "sim/scenario/describe/framework_abilities.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// Tensor parallelism pays inside a node, where its all-reduces have fast links (arXiv 2104.04473,
/// section 3.4); one node more shows whether the answer lies at that border.
constexpr int kTensorNodes = 2;
/// Tokens of a sequence that a context-parallel rank has at least: a tile of fused attention, below
/// which a rank computes what it does not need (Dao-AILab/flash-attention, blocks of 128 queries).
constexpr std::int64_t kTileTokens = 128;
/// Sizes to search: as the scenario has it; four times the 25 MiB of PyTorch's
/// DistributedDataParallel (bucket_cap_mb); and as large as Megatron-LM's for 100 replicas: a
/// million elements each (distributed_data_parallel.py, bucket_size), in FP32.
constexpr double kMiB = 1 << 20;
constexpr double kBuckets[] = {0, 100 * kMiB, 400 * kMiB};

std::vector<int> divisors(std::int64_t number, std::int64_t most) {
  std::vector<int> all;
  for (std::int64_t d = 1; d <= std::min(number, most); ++d) {
    if (number % d == 0) all.push_back(static_cast<int>(d));
  }
  return all;
}

/// Divisors of any of the numbers.
std::vector<int> divisors(const std::vector<int>& numbers, std::int64_t most) {
  std::vector<int> all;
  for (const int number : numbers) {
    for (const int d : divisors(number, most)) all.push_back(d);
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<int> up_to(std::int64_t most) {
  std::vector<int> all;
  for (int i = 1; i <= most; ++i) all.push_back(i);
  return all;
}

/// What the scenario's framework has of each kind; without a framework everything.
class Abilities {
 public:
  explicit Abilities(const Scenario& scenario) : framework_(scenario.framework) {}

  bool has(std::string_view path, std::string_view value, bool beside_stages = false) const {
    return !framework_ || framework_can(*framework_, path, value, beside_stages);
  }
  template <class Values, class Word>
  void keep(Values& values, std::string_view path, const Word& word) const {
    std::erase_if(values, [&](const auto& value) { return !has(path, word(value)); });
  }

 private:
  std::optional<Framework> framework_;
};

/// A way to recompute.
struct Repeated {
  Recompute kind = Recompute::none;
  ModuleSet modules = ModuleSet::stated;
  std::int64_t layers = 0;  ///< full: of each chunk; 0: all
};

/// A way to exchange gradients and parameters among data-parallel ranks.
struct Exchange {
  const Sharding* sharding = nullptr;
  bool overlap = false;
  bool has_buckets = false;
  std::optional<Reshard> reshard;
  int shard_degree = 0;
  bool fits = false;  ///< breaks no rule beside the split
};

/// Buckets are as the scenario has them where there is no choice.
const std::vector<double> kOneBucket{0};

class Walk {
 public:
  Walk(const Axes& axes, const SearchBase& base,
       const std::function<void(const FrameVariants&)>& visit, const WalkOptions& options)
      : axes_(axes),
        base_(base),
        visit_(visit),
        options_(options),
        layers_(layers_of(base.scenario.model)),
        known_(known_names()),
        scenario_(base.scenario) {
    const Abilities abilities(base.scenario);
    for (const auto& dispatcher : axes.dispatcher) {
      if (!dispatcher || abilities.has("parallelism.expert.dispatcher", name_of(*dispatcher)))
        dispatchers_.push_back(dispatcher);
    }
    for (const Sharding* sharding : axes.sharding) {
      for (const bool beside_stages : {false, true}) {
        // Bounds of stages know nothing of gathers.
        if (beside_stages && sharding->shards_parameters) continue;
        if (abilities.has("parallelism.data.sharding", sharding->name, beside_stages))
          shardings_[beside_stages ? 1 : 0].push_back(sharding);
      }
    }
  }

  void all() {
    for (const int gpus : axes_.gpus) {
      for (const int tensor : axes_.tensor) {
        for (const int context : axes_.context) {
          for (const int stages : axes_.pipeline) {
            if (gpus % (std::int64_t{tensor} * context * stages) != 0) continue;
            Strategy split{.gpus = gpus,
                           .tensor = tensor,
                           .context = context,
                           .stages = stages,
                           .sharding = &sharding_named("ddp")};
            with_pipeline(split);
          }
        }
      }
    }
  }

 private:
  void with_pipeline(Strategy s) {
    if (s.stages == 1) {
      s.schedule = Registry<Schedule>::find("1f1b");
      return with_batch(s);
    }
    for (const std::string& name : axes_.schedule) {
      s.schedule = Registry<Schedule>::find(name);
      for (const int chunks : axes_.chunks) {
        s.chunks = chunks;
        const ScheduleNeeds& needs = s.schedule->needs;
        if (chunks < needs.least_chunks || chunks > needs.most_chunks) continue;
        if (s.parts() > layers_ || dealt_layers(layers_, s.parts()).empty()) continue;
        with_batch(s);
      }
    }
  }

  void with_batch(Strategy s) {
    if (options_.stops && options_.stops()) return;
    for (const std::int64_t micro_batch : axes_.micro_batch) {
      s.micro_batch = micro_batch;
      for (const int expert : axes_.expert) {
        s.expert = expert;
        for (const int expert_tensor : expert_tensors(s.tensor)) {
          s.expert_tensor = expert_tensor;
          with_dispatcher(s);
        }
      }
    }
  }

  void with_dispatcher(Strategy s) {
    if (s.expert == 1) return with_sequence(s);
    for (const auto& dispatcher : dispatchers_) {
      s.dispatcher = dispatcher;
      with_sequence(s);
    }
  }

  void with_sequence(Strategy s) {
    for (const bool sequence : axes_.sequence) {
      if (sequence && s.tensor == 1) continue;
      s.sequence = sequence;
      if (!is_same_as_another(s)) visit_(variants_of(s));
    }
  }

  /// 0 stands for as many ranks as share other layers.
  std::vector<int> expert_tensors(int tensor) const {
    std::vector<int> all;
    for (const int stated : axes_.expert_tensor) {
      const int value = stated == tensor ? 0 : stated;
      if (std::ranges::find(all, value) == all.end()) all.push_back(value);
    }
    return all;
  }

  /// PyTorch's rounds are Megatron-LM's where the micro-batches are whole multiples of the stages.
  bool is_same_as_another(const Strategy& s) const {
    if (s.schedule->name != "interleaved-pytorch" || !searches("interleaved")) return false;
    const int count = s.micro_batches(base_.scenario.training.global_batch);
    return count > 0 && count % s.stages == 0;
  }

  bool searches(std::string_view schedule) const {
    return std::ranges::find(axes_.schedule, schedule) != axes_.schedule.end();
  }

  /// Asks the rules once about the split, once about each exchange, and once about each way of
  /// recomputing beside it: not once about each variant.
  FrameVariants variants_of(const Strategy& frame) {
    FrameVariants result{.frame = frame, .variants = {}};
    set_strategy(scenario_, frame, base_);
    const bool fits = is_sound(Choice::split);
    std::vector<Exchange> exchanges = exchanges_of(frame);
    if (fits) {
      for (Exchange& exchange : exchanges) {
        set(frame, exchange);
        exchange.fits = is_sound(Choice::sharding);
      }
    }
    for (const auto& [recompute, modules, layers] : recomputes(frame)) {
      Strategy s = frame;
      s.recompute = recompute;
      s.modules = modules;
      s.recomputed_layers = layers;
      if (fits) scenario_.training.recompute = recomputation_of(s, base_);
      for (const Exchange& exchange : exchanges) {
        if (exchange.fits) set(frame, exchange);
        add(s, exchange, exchange.fits && is_sound(Choice::recompute), result);
      }
    }
    return result;
  }

  bool is_sound(Choice choice) const { return fits(scenario_, known_, choice); }

  void set(Strategy frame, const Exchange& exchange) {
    frame.sharding = exchange.sharding;
    frame.overlap = exchange.overlap;
    frame.reshard = exchange.reshard;
    frame.shard_degree = exchange.shard_degree;
    set_data(scenario_.parallelism.data, frame, base_);
  }

  /// The strategies that exchange gradients like that, one for each size of bucket.
  void add(Strategy s, const Exchange& exchange, bool fits, FrameVariants& result) const {
    s.sharding = exchange.sharding;
    s.overlap = exchange.overlap;
    s.reshard = exchange.reshard;
    s.shard_degree = exchange.shard_degree;
    for (const double bucket : exchange.has_buckets ? axes_.bucket : kOneBucket) {
      s.bucket = bucket == base_.scenario.parallelism.data.bucket.bytes() ? 0 : bucket;
      if (fits) {
        result.variants.push_back(s);
        continue;
      }
      ++result.refused;
      if (options_.keep_refused) result.refused_ones.push_back(s);
    }
  }

  std::vector<Repeated> recomputes(const Strategy& frame) const {
    std::vector<Repeated> all;
    for (const std::string& word : axes_.recompute) {
      if (word == "none") all.push_back({Recompute::none});
      if (word == "full") all.push_back({Recompute::full});
      for (std::size_t set = 0; set < kModuleSets; ++set) {
        const auto modules = static_cast<ModuleSet>(set);
        const bool is_there = set == 0 || !base_.modules.at(set).empty();
        if (word == name_of(modules) && is_there) all.push_back({Recompute::selective, modules});
      }
      if (word != "layers") continue;
      // Layers that the smallest part has, and fewer than the largest has: else recompute is full.
      const auto parts = dealt_layers(layers_, frame.parts());
      if (parts.empty()) continue;
      const std::int64_t most = *std::ranges::max_element(parts) - 1;
      const std::int64_t least = *std::ranges::min_element(parts);
      for (std::int64_t n = 1; n <= std::min(most, least); ++n)
        all.push_back({.kind = Recompute::full, .layers = n});
    }
    return all;
  }

  /// All exchanges, where data parallelism has any.
  std::vector<Exchange> exchanges_of(const Strategy& frame) const {
    if (frame.replicas() * frame.schedule->needs.copies == 1)
      return {{.sharding = frame.sharding, .overlap = base_.scenario.parallelism.data.overlap}};
    std::vector<Exchange> all;
    for (const Sharding* sharding : shardings_[frame.stages > 1 ? 1 : 0]) {
      for (const bool overlap : axes_.overlap) {
        for (const int degree : shard_degrees(frame, *sharding)) {
          for (const auto& reshard : reshards(frame, *sharding))
            all.push_back({.sharding = sharding,
                           .overlap = overlap,
                           .has_buckets = overlap && !sharding->shards_parameters,
                           .reshard = reshard,
                           .shard_degree = degree});
        }
      }
    }
    return all;
  }

  /// Without those that are no choice: more than a part of the data ranks, what shards nothing.
  std::vector<int> shard_degrees(const Strategy& frame, const Sharding& sharding) const {
    if (sharding.shards() == 0) return {0};
    std::vector<int> all;
    for (int degree : axes_.shard_degree) {
      if (degree == kNodeShare)
        degree = base_.scenario.cluster.gpus_per_node / (frame.tensor * frame.context);
      const bool is_part = degree > 1 && degree < frame.data() && frame.data() % degree == 0;
      if (degree == frame.data()) degree = 0;  // all of them
      const bool is_known = std::ranges::find(all, degree) != all.end();
      if ((degree == 0 || is_part) && !is_known) all.push_back(degree);
    }
    return all;
  }

  std::vector<std::optional<Reshard>> reshards(const Strategy& frame,
                                               const Sharding& sharding) const {
    if (!sharding.shards_parameters) return {std::nullopt};
    const Abilities abilities(base_.scenario);
    const Reshard own = base_.scenario.parallelism.data.reshard_after_forward;
    auto all = axes_.reshard;
    std::erase_if(all, [&](const std::optional<Reshard>& reshard) {
      return !abilities.has("parallelism.data.reshard_after_forward",
                            name_of(reshard.value_or(own)), frame.stages > 1);
    });
    // Embedding and head alone make the difference between layers and all.
    const bool has_layers = own == Reshard::layers && !all.empty() && !all.front();
    if (has_layers) std::erase(all, std::optional(Reshard::all));
    return all;
  }

  const Axes& axes_;
  const SearchBase& base_;
  const std::function<void(const FrameVariants&)>& visit_;
  const WalkOptions& options_;
  std::int64_t layers_;
  KnownNames known_;
  /// That the framework has, without pipeline stages and beside them.
  std::array<std::vector<const Sharding*>, 2> shardings_;
  std::vector<std::optional<Dispatcher>> dispatchers_;  ///< that the framework has
  Scenario scenario_;  ///< has the strategy that the rules are asked about
};

/// Leaves out what the framework cannot launch. Which shardings it has depends on the stages.
void keep_what_framework_has(Axes& axes, const Scenario& s) {
  const Abilities abilities(s);
  const auto number = [](int value) { return fmt::format("{}", value); };
  abilities.keep(axes.schedule, "parallelism.pipeline.schedule",
                 [](const std::string& name) { return name; });
  abilities.keep(axes.sequence, "parallelism.sequence",
                 [](bool value) { return value ? "true" : "false"; });
  abilities.keep(axes.expert, "parallelism.expert.degree", number);
  abilities.keep(axes.context, "parallelism.context.degree", number);
  if (!abilities.has("parallelism.context.kind", name_of(s.parallelism.context.kind)))
    axes.context = {1};
  std::erase_if(axes.recompute, [&](const std::string& word) {
    if (word == "none" || word == "selective" || word == "full")
      return !abilities.has("training.recompute.kind", word);
    // Sets of modules are those that the framework has (search_base).
    if (word != "layers") return !abilities.has("training.recompute.kind", "selective");
    return !abilities.has("training.recompute.kind", "full") ||
           !abilities.has("training.recompute.method", "block");
  });
}

}  // namespace

Axes axes_of(const SearchBase& base, const std::vector<int>& gpus) {
  const Scenario& s = base.scenario;
  const auto* transformer = std::get_if<Transformer>(&s.model.shape);
  const bool splits_layers = transformer != nullptr || std::holds_alternative<Mlp>(s.model.shape);
  const std::int64_t layers = splits_layers ? layers_of(s.model) : 1;
  Axes axes{.gpus = gpus,
            .tensor = {1},
            .context = {1},
            .expert = {1},
            .pipeline = {},
            .chunks = up_to(layers),
            .expert_tensor = {0}};
  if (transformer != nullptr) {
    axes.tensor = divisors(gpus, std::int64_t{kTensorNodes} * s.cluster.gpus_per_node);
    axes.context = divisors(gpus, std::max<std::int64_t>(s.sequence_length() / kTileTokens, 1));
    if (transformer->experts) {
      axes.expert = divisors(transformer->experts->count, 1 << 20);
      axes.expert_tensor = {0, 1};
    }
  }
  axes.pipeline = divisors(gpus, layers);
  axes.schedule = Registry<Schedule>::names();
  for (const int d : divisors(s.training.global_batch, s.training.global_batch))
    axes.micro_batch.push_back(d);
  axes.sequence = {false};
  if (transformer != nullptr) axes.sequence.push_back(true);
  axes.recompute = {"none", "selective", "full", "layers"};
  for (std::size_t set = 1; set < kModuleSets; ++set) {
    if (!base.modules.at(set).empty())
      axes.recompute.emplace_back(name_of(static_cast<ModuleSet>(set)));
  }
  axes.sharding = Registry<Sharding>::all();
  axes.overlap = {false, true};
  const double own = s.parallelism.data.bucket.bytes();
  for (const double bucket : kBuckets) {
    if (bucket != own) axes.bucket.push_back(bucket);
  }
  for (const Reshard reshard : {Reshard::all, Reshard::none})
    if (s.parallelism.data.reshard_after_forward != reshard) axes.reshard.emplace_back(reshard);
  axes.shard_degree = {0, kNodeShare};
  keep_what_framework_has(axes, s);
  return axes;
}

void walk(const Axes& axes, const SearchBase& base,
          const std::function<void(const FrameVariants&)>& visit, const WalkOptions& options) {
  Walk(axes, base, visit, options).all();
}

}  // namespace stepsim
