// A strategy: one way to split the work of a step, and the settings that say it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/schedule.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Which keys the scenario states itself, where their defaults follow from a strategy.
struct StatedKeys {
  bool overlap_p2p = false, batch_p2p_sync = false, no_sync = false, overlap = false,
       bucket = false, first_bucket = false;
  bool degree = false, shard_degree = false, broadcast_buffers = false, dtensor = false;
  bool steps = false, warmup = false;
};

/// Which modules selective recompute repeats: those that the scenario states, by default
/// core_attention; cheap ones, named after their first; all of them and the MLPs, or experts; or
/// every second product.
enum class ModuleSet : std::uint8_t { stated, layernorm, mlp, every_second_matmul };
inline constexpr std::size_t kModuleSets = 4;
/// "layernorm", as --only takes it.
std::string_view name_of(ModuleSet set);

/// The scenario that is searched. What strategies do not set stays as it is here.
struct SearchBase {
  Scenario scenario;
  StatedKeys stated;
  /// The modules of each set; empty: of a set that is not searched.
  std::array<std::vector<RecomputeModule>, kModuleSets> modules{};
};

/// With the sets that the model has and that the scenario's framework can repeat.
SearchBase search_base(Scenario scenario, StatedKeys stated);

struct Strategy {
  int gpus = 1;
  int tensor = 1, context = 1, expert = 1;
  int expert_tensor = 0;  ///< ranks that share each expert; 0: the tensor-parallel ones
  std::optional<Dispatcher> dispatcher;  ///< absent: as the scenario has it
  int stages = 1, chunks = 1;
  const Schedule* schedule = nullptr;
  std::int64_t micro_batch = 1;
  bool sequence = false;
  Recompute recompute = Recompute::none;
  ModuleSet modules = ModuleSet::stated;  ///< selective: what it repeats
  std::int64_t recomputed_layers = 0;     ///< full: of each chunk, the first ones; 0: all
  const Sharding* sharding = nullptr;
  bool overlap = true;
  double bucket = 0;  ///< bytes; 0: as the scenario has it
  /// Blocks that are gathered again for backward, where parameters are sharded; absent: as the
  /// scenario has it.
  std::optional<Reshard> reshard;
  int shard_degree = 0;  ///< data ranks that share one copy of what is sharded; 0: all
  bool operator==(const Strategy&) const = default;

  int data() const { return gpus / (tensor * context * stages); }
  int replicas() const { return gpus / (tensor * stages); }
  int parts() const { return stages * chunks / schedule->needs.copies; }
  int micro_batches(std::int64_t global_batch) const {
    return static_cast<int>(global_batch / (micro_batch * data()));
  }
};

/// How many choices two strategies differ in.
int distance(const Strategy& a, const Strategy& b);

/// Layers of each part where they are dealt out: equal, or one less on the last part, or on the
/// last and the first, which also have head and embedding. {}: they do not divide like that.
std::vector<std::int64_t> dealt_layers(std::int64_t layers, int parts);

/// The strategy that the scenario itself has, as far as a strategy can say it.
Strategy own_strategy(const Scenario& scenario);

/// What the strategy computes again: with the details of the scenario where its kind is the same,
/// and by default elsewhere.
Recomputation recomputation_of(const Strategy& strategy, const SearchBase& base);

/// Gives the scenario that strategy. `scenario` begins as base.scenario and may have had any other
/// strategy since.
void set_strategy(Scenario& scenario, const Strategy& strategy, const SearchBase& base);

/// Gives data parallelism the strategy's sharding, overlap and buckets, and what follows from them
/// where the scenario does not state it.
void set_data(DataParallel& data, const Strategy& strategy, const SearchBase& base);

/// "parallelism.tensor=8", as --set takes them: what the strategy changes of the scenario.
std::vector<std::string> settings_of(const Strategy& strategy, const SearchBase& base);

/// "tensor 8 x pipeline 16 x data 8, interleaved 2, micro-batch 1, recompute 3 layers, zero1".
std::string strategy_text(const Strategy& strategy);
/// The degrees of such a text, and all the rest of it.
std::string degrees_text(const Strategy& strategy);
std::string choices_text(const Strategy& strategy);

}  // namespace stepsim
