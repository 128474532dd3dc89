// Finds the phase of each activity by the innermost event around its launch that names one.
#include "sim/recording/phase.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "sim/recording/host_context.hpp"

namespace stepsim {

std::optional<StepPhase> phase_said_by(std::string_view name) {
  if (name.starts_with("Optimizer.") || name == "## optimizer ##") return StepPhase::optimizer;
  if (name.find("CheckpointFunctionBackward") != name.npos) return StepPhase::recompute;
  if (name.starts_with("autograd::engine::evaluate_function") || name == "## backward ##")
    return StepPhase::backward;
  if (name == "## forward ##") return StepPhase::forward;
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  if (name.ends_with("Backward")) return StepPhase::backward;
  return std::nullopt;
}

namespace {

class PhaseFinder {
 public:
  explicit PhaseFinder(const Recording& recording) {
    for (const std::string& name : recording.names) said_.push_back(phase_said_by(name));
  }

  StepPhase phase_in(Enclosing enclosing) const {
    for (auto event = enclosing.rbegin(); event != enclosing.rend(); ++event) {
      if ((*event)->work == HostWork::python || (*event)->work == HostWork::runtime) continue;
      if (const auto& said = said_[(*event)->name]) return *said;
    }
    return StepPhase::forward;
  }

 private:
  std::vector<std::optional<StepPhase>> said_;  ///< by name
};

/// The activities that a thread launched, in order of their launch.
std::vector<std::vector<std::size_t>> launched_by_thread(const Recording& recording) {
  std::vector<std::vector<std::size_t>> launched(recording.threads.size());
  for (std::size_t i = 0; i < recording.activities.size(); ++i) {
    const auto& launch = recording.activities[i].launch;
    if (launch) launched[launch->thread].push_back(i);
  }
  const auto event_of = [&](std::size_t i) { return recording.activities[i].launch->event; };
  for (auto& of_thread : launched) std::ranges::stable_sort(of_thread, {}, event_of);
  return launched;
}

}  // namespace

std::vector<StepPhase> phases_of(const Recording& recording) {
  const PhaseFinder finder(recording);
  std::vector<StepPhase> phases(recording.activities.size(), StepPhase::not_known);
  const auto launched = launched_by_thread(recording);
  for (std::size_t thread = 0; thread < launched.size(); ++thread) {
    std::vector<Nanoseconds> moments;
    for (const std::size_t i : launched[thread])
      moments.push_back(recording.at(*recording.activities[i].launch).time.start);
    visit_moments(recording.threads[thread], moments, [&](std::size_t i, Enclosing enclosing) {
      phases[launched[thread][i]] = finder.phase_in(enclosing);
    });
  }
  return phases;
}

}  // namespace stepsim
