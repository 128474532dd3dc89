// A scenario as a list of keys and values: what two of them are compared by.
#pragma once

#include <string>
#include <vector>

#include "sim/core/source.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct KeyValue {
  std::string key;    ///< "training.micro_batch", "faults.slow_gpus[0].factor"
  std::string value;  ///< "1", "[mlp, norm]", without quotes
};

/// All that `to_yaml` writes, defaults and all, in that order.
std::vector<KeyValue> keys_of(const Scenario& scenario);

/// The same of a text that `to_yaml` wrote. Throws UserError with the mistakes of one that is no
/// YAML.
std::vector<KeyValue> keys_of_yaml(const Source& text);

}  // namespace stepsim
