// What makes a step differ from the next.
#include "sim/plan/steps_alike.hpp"

namespace stepsim {

bool steps_are_alike(const Scenario& scenario) {
  const Host& host = scenario.host;
  return scenario.faults == Faults{} && !scenario.data && !scenario.checkpoint &&
         !scenario.parallelism.data.offload_optimizer && !host.sync && host.cpu_work.empty() &&
         !host.recompilation && !host.garbage_collection;
}

}  // namespace stepsim
