// What can be read off a schedule: who holds what, who waits for whom, and how much is in flight.
#include "sim/plan/schedule.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/scenario/expert_mesh.hpp"

namespace stepsim {

const char* name_of(PassKind pass) {
  switch (pass) {
    case PassKind::forward:
      return "forward";
    case PassKind::backward:
      return "backward";
    case PassKind::input_gradient:
      return "input gradient";
    case PassKind::weight_gradient:
      return "weight gradient";
  }
  return "";
}

int around(const PipelineShape& shape, int stage, int chunk) {
  return chunk * shape.stages + stage;
}

int peak_in_flight(const std::vector<Action>& order) {
  int now = 0;
  int peak = 0;
  for (const Action& action : order) {
    if (action.pass == PassKind::forward) ++now;
    if (completes_gradients(action.pass)) --now;
    peak = std::max(peak, now);
  }
  return peak;
}

Placement::Placement(const Schedule& schedule, const PipelineShape& shape)
    : chunks_(shape.chunks),
      copies_(schedule.needs.copies),
      parts_(shape.stages * shape.chunks / schedule.needs.copies) {
  if (chunks_ < schedule.needs.least_chunks || chunks_ > schedule.needs.most_chunks) {
    throw UserError(fmt::format("{} runs {} to {} chunks per stage, but there are {}",
                                schedule.name, schedule.needs.least_chunks,
                                schedule.needs.most_chunks, chunks_));
  }
  places_.resize(static_cast<std::size_t>(shape.stages * shape.chunks));
  for (int stage = 0; stage < shape.stages; ++stage) {
    for (int chunk = 0; chunk < shape.chunks; ++chunk) {
      const int part = schedule.part(shape, stage, chunk);
      part_.push_back(part);
      places_[static_cast<std::size_t>(copy({stage, chunk}) * parts_ + part)] = {stage, chunk};
    }
  }
}

std::size_t Placement::index(StagePlace place) const {
  return static_cast<std::size_t>(place.stage * chunks_ + place.chunk);
}

int Placement::part(StagePlace place) const { return part_[index(place)]; }

bool Placement::holds(int stage, int part) const {
  for (int chunk = 0; chunk < chunks_; ++chunk) {
    if (part_[index({stage, chunk})] == part) return true;
  }
  return false;
}

std::optional<StagePlace> Placement::neighbour(StagePlace place, int step) const {
  const int other = part(place) + step;
  if (other < 0 || other >= parts_) return std::nullopt;
  return places_[static_cast<std::size_t>(copy(place) * parts_ + other)];
}

std::optional<StagePlace> Placement::receiver(const Action& action, int stage) const {
  if (action.pass == PassKind::weight_gradient) return std::nullopt;
  const StagePlace here{stage, action.chunk};
  return action.pass == PassKind::forward ? next(here) : previous(here);
}

std::optional<StagePlace> Placement::sender(const Action& action, int stage) const {
  if (action.pass == PassKind::weight_gradient) return std::nullopt;
  const StagePlace here{stage, action.chunk};
  return action.pass == PassKind::forward ? previous(here) : next(here);
}

std::vector<int> Placement::holders(int stage) const {
  std::vector<int> stages;
  const int part = part_[index({stage, 0})];
  for (int copy = 0; copy < copies_; ++copy)
    stages.push_back(places_[static_cast<std::size_t>(copy * parts_ + part)].stage);
  std::ranges::sort(stages);
  return stages;
}

std::vector<std::pair<int, int>> Placement::ends() const {
  std::vector<std::pair<int, int>> ends;
  for (int copy = 0; copy < copies_; ++copy) {
    const auto first = static_cast<std::size_t>(copy * parts_);
    ends.emplace_back(places_[first].stage,
                      places_[first + static_cast<std::size_t>(parts_) - 1].stage);
  }
  return ends;
}

bool Placement::needs_batch(StagePlace place) const {
  if (is_first(place)) return true;
  const StagePlace first = places_[static_cast<std::size_t>(copy(place) * parts_)];
  return is_last(place) && first.stage != place.stage;
}

const Schedule& schedule_of(const Scenario& scenario) {
  const std::string& name = scenario.parallelism.pipeline.schedule;
  const Schedule* schedule = Registry<Schedule>::find(name);
  if (schedule == nullptr) throw UserError("unknown schedule '" + name + "'");
  return *schedule;
}

PipelineShape shape_of(const Scenario& scenario) {
  const Pipeline& pipeline = scenario.parallelism.pipeline;
  return {pipeline.stages, scenario.micro_batches(), pipeline.chunks, overlaps_exchanges(scenario)};
}

bool overlaps_exchanges(const Scenario& scenario) {
  const ExpertParallel& expert = scenario.parallelism.expert;
  const auto* t = std::get_if<Transformer>(&scenario.model.shape);
  if (expert.degree == 1 || (t != nullptr && !t->experts)) return false;
  const Joins joins = schedule_of(scenario).needs.joins;
  return can_join(joins, scenario.parallelism.pipeline.stages) &&
         expert.overlap.value_or(joins == Joins::always);
}

Placement placement_of(const Scenario& scenario) {
  return {schedule_of(scenario), shape_of(scenario)};
}

int replicas(const Scenario& scenario) {
  return scenario.replicas() * schedule_of(scenario).needs.copies;
}

int sharing_ranks(const Scenario& scenario) { return replicas(scenario) / scenario.shard_groups(); }

int expert_replicas(const Scenario& scenario) {
  return expert_mesh(scenario).replicas * schedule_of(scenario).needs.copies;
}

int ranks_sharing_experts(const Scenario& scenario) {
  return expert_replicas(scenario) / scenario.shard_groups();
}

std::vector<KnownSchedule> known_schedules() {
  std::vector<KnownSchedule> known;
  for (const std::string& name : Registry<Schedule>::names())
    known.push_back({name, Registry<Schedule>::find(name)->needs});
  return known;
}

}  // namespace stepsim
