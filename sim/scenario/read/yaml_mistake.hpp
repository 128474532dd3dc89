// What a syntax error of YAML means to somebody who writes a scenario.
#pragma once

#include <memory>
#include <string>

#include "sim/core/source.hpp"

namespace stepsim {

/// What stops a parse, thrown out of the event handler.
struct Refusal {
  Place place;
  std::string message;
  std::string proposal;
};

inline constexpr const char* kLeftOpen = "the quote that opens here is not closed";

/// Whether a quote opens at this offset that was forgotten to close: what it begins goes to the end
/// of the text, or over keys beside the one that it is the value of.
bool is_left_open(const std::string& text, std::size_t at);

/// The mistake where yaml-cpp stopped with a message, with what to do about it where the line shows
/// it.
Refusal yaml_mistake(const std::shared_ptr<const Source>& source, const Place& place,
                     const std::string& message);

}  // namespace stepsim
