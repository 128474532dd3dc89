// What is recorded of validated runs: their errors, by what the runs have in common.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace stepsim {

/// The generation of what has no tensor cores, such as a CPU: nothing is like it but itself.
inline constexpr const char* kNoGeneration = "other";

/// What traits can be; generations stand in the order of Architecture.
inline constexpr std::array kGenerations{"volta", "ampere", "hopper",     "blackwell",
                                         "cdna3", "cdna4",  kNoGeneration};
inline constexpr std::array kModelKinds{"dense transformer",  "dense transformer with adapters",
                                        "mixture of experts", "convolutional",
                                        "recommendation",     "linear layers"};
inline constexpr const char *kSmallLayers = "small layers", *kLargeLayers = "large layers";
inline constexpr std::array kPrecisionClasses{"32-bit", "16-bit", "fp8", "nvfp4"};

/// What a run has in common with others whose errors may be like its own.
struct RunTraits {
  std::string gpu;         ///< family: a100, whatever its memory
  std::string generation;  ///< ampere, hopper, ...
  std::string model;       ///< one of kModelKinds
  std::string layers;      ///< large layers or small layers of a transformer; else empty
  std::string precision;   ///< 16-bit, 32-bit, fp8, nvfp4
  auto operator<=>(const RunTraits&) const = default;
};

/// Runs of a suite that are alike.
struct RecordedRuns {
  std::string suite;
  RunTraits traits;
  std::string known;           ///< why they are not expected to be met; empty: they are
  std::vector<double> errors;  ///< predicted over measured, less one; ascending
};

}  // namespace stepsim
