// Pipeline schedules as values: which part of the model a stage holds, and the order in which it
// runs its passes.
//
// The model is cut into parts, numbered from input to loss. A stage holds one part for each of its
// chunks, or two parts of two copies of the model (DualPipe). A forward pass hands its activations
// to the stage that holds the next part, a backward pass its gradients to the one that holds the
// part before; neighbours and transfers follow from that.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario/load.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct PipelineShape {
  int stages = 1;
  int micro_batches = 1;
  int chunks = 1;      ///< model chunks per stage
  bool pairs = false;  ///< passes of the steady state join, for which it runs one forward ahead
};

/// A backward pass may be split in two (Qi et al. 2023, arXiv 2401.10241): other stages wait for
/// the gradients of its input only, those of the weights can be computed later.
enum class PassKind : std::uint8_t { forward, backward, input_gradient, weight_gradient };
inline constexpr std::size_t kPassKinds = 4;
const char* name_of(PassKind pass);

/// One pass of one micro-batch through one chunk.
struct Action {
  PassKind pass = PassKind::forward;
  int micro_batch = 0;
  int chunk = 0;
  /// Runs as one with the pass before it: both inputs are there before, both outputs leave after.
  bool joined = false;
  bool operator==(const Action&) const = default;
};

/// Whether the pass completes the gradients of its weights.
inline bool completes_gradients(PassKind pass) {
  return pass == PassKind::backward || pass == PassKind::weight_gradient;
}

/// The part of a chunk when chunk 0 of all stages comes first, then chunk 1 of all stages: the way
/// through the model goes around the stages.
int around(const PipelineShape& shape, int stage, int chunk);

struct Schedule {
  std::string_view name;
  std::string_view description;
  ScheduleNeeds needs;
  int (*part)(const PipelineShape& shape, int stage, int chunk) = around;
  std::vector<Action> (*order)(const PipelineShape& shape, int stage);
};

/// Forward passes whose activations a stage holds at the same time, at most, in chunk passes; a
/// pass whose backward is split holds them until its weight gradients.
int peak_in_flight(const std::vector<Action>& order);

/// A chunk of a stage.
struct StagePlace {
  int stage = 0;
  int chunk = 0;
  bool operator==(const StagePlace&) const = default;
};

/// Where the parts of the model lie. The chunks of a stage are dealt out to the copies in order.
class Placement {
 public:
  Placement(const Schedule& schedule, const PipelineShape& shape);

  int parts() const { return parts_; }
  int part(StagePlace place) const;
  /// Whether a chunk of the stage is that part.
  bool holds(int stage, int part) const;
  bool is_first(StagePlace place) const { return part(place) == 0; }
  bool is_last(StagePlace place) const { return part(place) + 1 == parts_; }
  /// Who holds the part after or before, in the same copy; nothing at the ends of the model.
  std::optional<StagePlace> next(StagePlace place) const { return neighbour(place, 1); }
  std::optional<StagePlace> previous(StagePlace place) const { return neighbour(place, -1); }
  /// Where the result of a pass goes, and who makes its input.
  std::optional<StagePlace> receiver(const Action& action, int stage) const;
  std::optional<StagePlace> sender(const Action& action, int stage) const;
  /// The stages that hold the parts of a stage: more than itself where there are copies.
  std::vector<int> holders(int stage) const;
  /// The stages of the first and the last part, of each copy.
  std::vector<std::pair<int, int>> ends() const;
  /// Whether passes of that chunk start with tokens or end with labels that the stage has not.
  bool needs_batch(StagePlace place) const;

  bool operator==(const Placement&) const = default;

 private:
  int copy(StagePlace place) const { return place.chunk / (chunks_ / copies_); }
  std::size_t index(StagePlace place) const;
  std::optional<StagePlace> neighbour(StagePlace place, int step) const;

  int chunks_, copies_, parts_;
  std::vector<int> part_;           ///< by stage, chunk
  std::vector<StagePlace> places_;  ///< by copy, part
};

/// The schedule of the scenario's pipeline. Throws UserError when it is unknown.
const Schedule& schedule_of(const Scenario& scenario);
PipelineShape shape_of(const Scenario& scenario);
/// Whether exchanges of tokens run beside the other pass of joined ones.
bool overlaps_exchanges(const Scenario& scenario);
Placement placement_of(const Scenario& scenario);
/// Ranks that hold each parameter (of one tensor rank's share).
int replicas(const Scenario& scenario);
/// Ranks that share one copy of what is sharded.
int sharing_ranks(const Scenario& scenario);
/// Ranks that hold each parameter of an expert, and of them those that share one copy.
int expert_replicas(const Scenario& scenario);
int ranks_sharing_experts(const Scenario& scenario);

/// All schedules that are registered, for KnownNames.
std::vector<KnownSchedule> known_schedules();

}  // namespace stepsim
