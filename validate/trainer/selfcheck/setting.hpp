// What is trained and simulated: a grid of settings of the training program.
#pragma once

#include <string>
#include <vector>

namespace stepsim::selfcheck {

struct Setting {
  int ranks, layers, width, batch;
  int bucket_kib = 4096;
  int workers = -1;  ///< workers that decode pictures; -1: numbers that are there from the start

  bool loads() const { return workers >= 0; }
  bool operator==(const Setting&) const = default;
};

/// Settings of one rank, then families that differ in the workers alone, and in the bucket alone.
std::vector<Setting> full_grid();
std::vector<Setting> short_grid();

/// The bytes that one rank comes back to in every step: weights, gradients and Adam's moments,
/// activations and their gradients, a batch and its targets.
double working_set_bytes(const Setting& setting);

/// The size of a setting's bucket: "2 MiB", "256 KiB".
std::string bucket_text(const Setting& setting);

}  // namespace stepsim::selfcheck
