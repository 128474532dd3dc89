// Uneven stages as Megatron-LM's options say them.
#pragma once

#include <cstdint>
#include <string>

#include "sim/scenario/parallelism.hpp"

namespace stepsim {

struct MegatronLayers {
  bool embedding = false, loss = false;  ///< they count as a layer of their stage
  std::int64_t first = 0, last = 0;      ///< layers of these stages; 0: as the others
  std::string layout;                    ///< "Et*7|t*9|t*9|t*7L", where the others cannot say it
};

/// The options that make these stages; none where the stages are even. `mtp_layers`: of multi-token
/// prediction, on the last part.
MegatronLayers megatron_layers(const Pipeline& pipeline, std::int64_t mtp_layers);

}  // namespace stepsim
