// Each stage goes on as far as its inputs are known, and wakes those that wait for its results.
#include "sim/search/stage_finish_times.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/plan/program/passes.hpp"

namespace stepsim {
namespace {

constexpr double kUnknown = -1;

class Clocks {
 public:
  Clocks(const Schedule& schedule, const PipelineShape& shape, const Pipeline& pipeline,
         const std::vector<PartTimes>& parts)
      : parts_(parts), placement_(schedule, shape), micro_batches_(shape.micro_batches) {
    const std::size_t results = parts.size() * static_cast<std::size_t>(shape.micro_batches);
    forward_.assign(results, kUnknown);
    backward_.assign(results, kUnknown);
    for (int stage = 0; stage < shape.stages; ++stage) {
      stages_.push_back({exchanges(schedule.order(shape, stage), schedule, pipeline)});
      awake_.push_back(stage);
    }
  }

  std::vector<double> ends() {
    while (!awake_.empty()) {
      const int stage = awake_.back();
      awake_.pop_back();
      stages_[static_cast<std::size_t>(stage)].is_awake = false;
      while (runs_next(stage)) continue;
    }
    std::vector<double> ends;
    for (const StageClock& stage : stages_) {
      if (stage.next < stage.units.size()) return {};
      ends.push_back(stage.now);
    }
    return ends;
  }

 private:
  struct StageClock {
    std::vector<ExchangedPasses> units;
    std::size_t next = 0;
    double now = 0;
    bool is_awake = true;
  };

  /// The next passes that exchange together; false where their inputs are not known yet.
  bool runs_next(int stage) {
    StageClock& clock = stages_[static_cast<std::size_t>(stage)];
    if (clock.next == clock.units.size()) return false;
    const ExchangedPasses& unit = clock.units[clock.next];
    double begin = clock.now;
    for (const Action& action : unit.passes) {
      const double input = input_of(action, stage);
      if (input == kUnknown) return false;
      begin = std::max(begin, input);
    }
    clock.now = begin;
    for (const Action& action : unit.passes) clock.now += seconds_of(action, stage);
    for (const Action& action : unit.passes) hand_on(action, stage, clock.now);
    if (!unit.weight_gradients.empty()) {
      double weights = clock.now - last_wait(unit.passes.back(), stage);
      for (const Action& action : unit.weight_gradients) weights += seconds_of(action, stage);
      clock.now = std::max(clock.now, weights);
    }
    ++clock.next;
    return true;
  }

  int part_of(const Action& action, int stage) const {
    return placement_.part({stage, action.chunk});
  }
  const PartTimes& times_of(int part) const { return parts_[static_cast<std::size_t>(part)]; }
  std::size_t index(int part, int micro_batch) const {
    return static_cast<std::size_t>(part) * static_cast<std::size_t>(micro_batches_) +
           static_cast<std::size_t>(micro_batch);
  }

  double input_of(const Action& action, int stage) const {
    const int part = part_of(action, stage);
    const bool is_forward = action.pass == PassKind::forward;
    const int from = is_forward ? part - 1 : part + 1;
    if (from < 0 || from == static_cast<int>(parts_.size())) return 0;
    const double end = (is_forward ? forward_ : backward_)[index(from, action.micro_batch)];
    return end == kUnknown ? kUnknown : end + times_of(std::min(part, from)).hop;
  }

  double seconds_of(const Action& action, int stage) const {
    const PartTimes& times = times_of(part_of(action, stage));
    switch (action.pass) {
      case PassKind::forward:
        return times.forward;
      case PassKind::input_gradient:
        return times.input_gradient;
      case PassKind::weight_gradient:
        return times.weight_gradient;
      case PassKind::backward:
        break;
    }
    return times.backward;
  }

  double last_wait(const Action& action, int stage) const {
    const LastWaits& waits = times_of(part_of(action, stage)).waits;
    if (action.pass == PassKind::forward) return waits.forward;
    return action.pass == PassKind::backward ? waits.backward : waits.input_gradient;
  }

  void hand_on(const Action& action, int stage, double end) {
    const std::size_t at = index(part_of(action, stage), action.micro_batch);
    (action.pass == PassKind::forward ? forward_ : backward_)[at] = end;
    const auto to = placement_.receiver(action, stage);
    if (!to || to->stage == stage) return;
    StageClock& receiver = stages_[static_cast<std::size_t>(to->stage)];
    if (!receiver.is_awake) awake_.push_back(to->stage);
    receiver.is_awake = true;
  }

  const std::vector<PartTimes>& parts_;
  Placement placement_;
  int micro_batches_;
  std::vector<double> forward_, backward_;  ///< ends by part and micro-batch
  std::vector<StageClock> stages_;
  std::vector<int> awake_;  ///< stages that may go on
};

}  // namespace

std::vector<double> stage_finish_times(const Schedule& schedule, const PipelineShape& shape,
                                       const Pipeline& pipeline,
                                       const std::vector<PartTimes>& parts) {
  return Clocks(schedule, shape, pipeline, parts).ends();
}

}  // namespace stepsim
