// The keys of a scenario: all of them with their values, by which two scenarios are compared, and
// those that it states itself.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/source.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct KeyValue {
  std::string key;    ///< "training.micro_batch", "faults.slow_gpus[0].factor"
  std::string value;  ///< "1", "[mlp, norm]", without quotes
};

/// All that `to_yaml` writes, defaults and all, in that order.
std::vector<KeyValue> keys_of(const Scenario& scenario);

/// The keys of a text that `to_yaml` wrote. Throws UserError with the mistakes of one that is no
/// YAML.
std::vector<KeyValue> keys_of_yaml(const Source& text);

/// Whether the key is that one, or lies within it.
bool is_within(std::string_view key, std::string_view outer);

/// The dotted paths of the keys that a scenario states, those of maps among them. Throws UserError
/// or IoError where the file cannot be read.
std::set<std::string> stated_keys(const std::string& path, const std::vector<Override>& overrides);

}  // namespace stepsim
