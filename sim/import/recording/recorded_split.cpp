// Sorts the collectives of a rank by what their groups are for.
#include "sim/import/recording/recorded_split.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "sim/recording/communication_call.hpp"
#include "sim/recording/gpu_time.hpp"

namespace stepsim {
namespace {

using Amounts = std::vector<StepCounts::Amount>;

/// The axis that a description says; two operations that stand for others tell that it does.
std::optional<Axis> axis_said_by(const RecordedCollective& collective) {
  const Axis axis = axis_of(collective, "send");
  return axis == axis_of(collective, "dispatch") ? std::optional(axis) : std::nullopt;
}

bool is_megatrons(const std::string& description) {
  return description.find("_PARALLEL_GROUP") != std::string::npos;
}

class SplitFinder {
 public:
  SplitFinder(const StepCounts& counts, const KernelKinds& kinds, int ranks) : counts_(counts) {
    const Recording& recording = counts.recording();
    split_.is_world_known = recording.world_size.has_value();
    split_.world = std::max({recording.world_size.value_or(1), ranks, 1});
    const KindByName kind_of = kinds_of_names(recording, kinds);
    for (const GpuActivity& activity : recording.activities) {
      if (communicates(activity, kind_of)) add(activity);
    }
  }

  RecordedSplit found() {
    split_.all_reduces = counts_.of_step(all_reduces_);
    split_.all_gathers = counts_.of_step(all_gathers_);
    split_.reduce_scatters = counts_.of_step(reduce_scatters_);
    split_.gradients = counts_.of_step(split_.reduce_scatters > 0 ? scattered_ : reduced_);
    take_degrees();
    for (const auto& [group, calls] : unplaced_) {
      const auto& [operation, size] = group;
      split_.unplaced.push_back(fmt::format("{} {} among {} ranks, whose group nobody describes",
                                            calls, operation, size));
    }
    return std::move(split_);
  }

 private:
  void add(const GpuActivity& activity) {
    const Recording& recording = counts_.recording();
    RecordedCollective said;
    if (activity.collective != kNoCollective) said = recording.collectives[activity.collective];
    std::string operation = operation_named(said.operation);
    if (operation.empty()) operation = operation_named(recording.name_of(activity));
    const int listed = static_cast<int>(said.ranks.size());
    const int size = said.group_size > 0 ? said.group_size : listed > 0 ? listed : split_.world;
    if (!split_.is_world_known) split_.world = std::max(split_.world, size);
    split_.is_megatron |= is_megatrons(said.group_description);
    split_.dispatches |= operation == "dispatch" || operation == "combine";
    const Nanoseconds at =
        activity.launch ? recording.at(*activity.launch).time.start : activity.time.start;
    const auto axis = axis_said_by(said);
    if (axis && *axis != Axis::data) {
      int& degree = degrees_[*axis];
      degree = degree == 0 ? size : std::min(degree, size);
    } else if (axis || size == split_.world) {
      add_data(operation, said, size, at);
    } else if (size > 1) {
      ++unplaced_[{operation, size}];
    }
  }

  void add_data(const std::string& operation, const RecordedCollective& said, int size,
                Nanoseconds at) {
    if (operation == "all_gather") all_gathers_.push_back({at});
    if (operation == "all_reduce") {
      all_reduces_.push_back({at});
      reduced_.push_back({at, said.in_elements});
    }
    if (operation == "reduce_scatter") {
      reduce_scatters_.push_back({at});
      scattered_.push_back({at, said.in_elements});
      split_.shards = std::max(split_.shards, size);
    }
    // A loss or a norm is reduced, too: of the types, that of the largest call counts.
    if (operation == "all_reduce" || operation == "reduce_scatter") {
      if (said.in_elements > largest_ && said.bytes_per_element > 0) {
        largest_ = said.in_elements;
        split_.bytes_of_a_gradient = said.bytes_per_element;
      }
    }
    split_.exchanges_among_all |= operation == "all_to_all";
  }

  void take_degrees() {
    for (const auto& [axis, degree] : degrees_) {
      int* taken = axis == Axis::tensor     ? &split_.tensor
                   : axis == Axis::context  ? &split_.context
                   : axis == Axis::pipeline ? &split_.stages
                                            : nullptr;
      if (axis == Axis::expert && split_.world % degree == 0) split_.expert = degree;
      if (taken == nullptr) continue;
      *taken = degree;
      const int product = split_.tensor * split_.context * split_.stages;
      if (split_.world % product == 0) continue;
      *taken = 1;
      split_.unplaced.push_back(fmt::format("a {} group of {} ranks, which does not divide {} GPUs",
                                            name_of(axis), degree, split_.world));
    }
  }

  const StepCounts& counts_;
  RecordedSplit split_;
  std::map<Axis, int> degrees_;
  std::map<std::tuple<std::string, int>, int> unplaced_;
  Amounts all_reduces_, all_gathers_, reduce_scatters_, reduced_, scattered_;
  double largest_ = 0;
};

}  // namespace

RecordedSplit split_in(const StepCounts& counts, const KernelKinds& kinds, int ranks) {
  return SplitFinder(counts, kinds, ranks).found();
}

}  // namespace stepsim
