// Families whose points are too few, or cannot give what a fit is to find.
#pragma once

#include <string>
#include <vector>

#include "sim/command/calibration.hpp"

namespace stepsim {

/// GEMMs of a precision that a fit needs at least: three for each of the twelve constants of the
/// tiled form. Judgement.
inline constexpr unsigned kFewestGemms = 36;

struct FewPoints {
  std::string family;  ///< "memory norm"
  std::string path;    ///< of its constants: "memory_kernels.norm"
  int points = 0, needed = 0;
  Place first;  ///< of its points
};

/// The records of all files that can be fitted: measured, and enough of a family. The others'
/// families are added to `few`.
std::vector<calib::Record> fittable(const std::vector<MeasuredFile>& files,
                                    std::vector<FewPoints>& few);

/// Of the measured points of that family ("gemm bf16", or what begins with it) the first.
Place first_of(const std::vector<MeasuredFile>& files, const std::string& family);

/// Throws UserError where the largest copy of a family takes no longer than its smallest.
void check_copies_grow(const std::vector<MeasuredFile>& files);

}  // namespace stepsim
