// One line of `expect`: what the result must be, checked for key, comparison and unit before
// anything runs.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// The keys of `expect`, in order of the documentation.
std::vector<std::string> expectation_keys();

/// From "step_time" and "<= 4.6 s". Throws Mistake. The key must be one of expectation_keys().
Expectation read_expectation(const std::string& key, const std::string& text);

/// The text after the key: "<= 4.6 s".
std::string expectation_text(const Expectation& expectation);

/// For the documentation: "comparison and a time".
std::string expectation_type(const std::string& key);
std::string expectation_meaning(const std::string& key);

}  // namespace stepsim
