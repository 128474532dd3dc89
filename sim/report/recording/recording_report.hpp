// Writers of what recordings show, for people and for programs.
#pragma once

#include <string>

#include "sim/recording/observation.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// What holds the recorded steps up, in a sentence, and what to try next.
struct RecordingVerdict {
  std::string sentence, next;
};
RecordingVerdict verdict_of(const Observation& seen);

/// For a terminal: where the window goes, why the GPU is idle, its steps and kernels, what is not
/// known, a verdict.
std::string to_table(const Observation& seen, const Screen& screen);

/// One object of schema "stepsim.recording/1": base SI units, and each key says its unit.
std::string to_json(const Observation& seen);

}  // namespace stepsim
