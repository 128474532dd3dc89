// Folds a plan and executes it.
#include "sim/engine/simulate.hpp"

#include "sim/core/random.hpp"
#include "sim/engine/executor.hpp"

namespace stepsim {
namespace {

constexpr double kNudge = 1e-12;

void nudge(Folding& folding, std::uint64_t number) {
  const RandomKey key(number);
  std::uint64_t rates = 0;
  const auto change = [&](BytesPerSecond& rate) {
    rate *= 1 + kNudge * key.with(rates++).uniform();
  };
  for (BytesPerSecond& link : folding.links) change(link);
  for (FoldedGroup& group : folding.groups) {
    for (std::vector<FoldedStream>& streams : group.streams) {
      for (FoldedStream& stream : streams) change(stream.alone);
    }
  }
}

}  // namespace

Simulation simulate(const Plan& plan, const SimulateOptions& options) {
  Folding folding = fold_plan(plan, options.fold);
  if (options.nudge != 0) nudge(folding, options.nudge);
  return Executor(plan, folding, options).run();
}

}  // namespace stepsim
