// Looking shardings up.
#include "sim/scenario/sharding.hpp"

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {

const Sharding& sharding_named(std::string_view name) {
  const Sharding* sharding = Registry<Sharding>::find(name);
  if (sharding == nullptr) throw InternalError("no sharding '" + std::string(name) + "'");
  return *sharding;
}

std::vector<std::string> shardings_that(bool (*holds)(const Sharding& sharding)) {
  std::vector<std::string> names;
  for (const Sharding* sharding : Registry<Sharding>::all()) {
    if (holds(*sharding)) names.emplace_back(sharding->name);
  }
  return names;
}

}  // namespace stepsim
