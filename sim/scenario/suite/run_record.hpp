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

/// Fabrics by what a GPU gets of them: "one node" has none.
inline constexpr std::array kFabricClasses{"one node", "EFA", "fast fabric", "slow fabric"};

/// The group that says which software a row ran. Rows of other software are never ways to do the
/// same job.
inline constexpr const char* kSoftwareGroup = "software";

/// What a run has in common with others whose errors may be like its own.
struct RunTraits {
  std::string gpu;         ///< family: a100, whatever its memory
  std::string generation;  ///< ampere, hopper, ...
  std::string model;       ///< one of kModelKinds
  std::string layers;      ///< large layers or small layers of a transformer; else empty
  std::string precision;   ///< 16-bit, 32-bit, fp8, nvfp4
  std::string fabric;      ///< what joins the nodes: one of kFabricClasses
  std::string style;       ///< how the model's kernels are written: a name of `list styles`
  int gpus = 0;
  auto operator<=>(const RunTraits&) const = default;
};

/// Runs of a suite that are alike.
struct RecordedRuns {
  std::string suite;
  RunTraits traits;
  std::string known;           ///< why they are not expected to be met; empty: they are
  std::vector<double> errors;  ///< predicted over measured, less one; ascending
  std::string publisher = {};  ///< who measured; empty: the suite is a source by itself
  /// The errors without what the publisher measured of its own machines, ascending; empty: they are
  /// the same.
  std::vector<double> unseen = {};

  const std::string& source() const { return publisher.empty() ? suite : publisher; }
  const std::vector<double>& unseen_errors() const { return unseen.empty() ? errors : unseen; }
};

}  // namespace stepsim
