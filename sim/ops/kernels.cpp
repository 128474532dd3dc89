// The building blocks.
#include "sim/ops/kernels.hpp"

namespace stepsim {

Launch memory_bound(const std::string& name, double bytes, MemoryRate rate) {
  return {name, MemoryBound{Bytes{bytes}, rate}};
}

Launch coming_back(Launch launch, double bytes, double row) {
  auto& kernel = std::get<MemoryBound>(launch.work);
  kernel.again = Bytes{bytes};
  kernel.row = Bytes{row};
  return launch;
}

Launch for_weights(Launch launch) {
  launch.for_weights = true;
  return launch;
}

void add_steps(Items& items, const char* name, double one, std::initializer_list<int> tensors) {
  for (const int each : tensors) items.emplace_back(memory_bound(name, each * one));
}

void append(Items& items, const Items& more) {
  items.insert(items.end(), more.begin(), more.end());
}

}  // namespace stepsim
