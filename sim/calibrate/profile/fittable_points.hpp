// Families whose points are too few, or cannot give what a fit is to find.
#pragma once

#include <string>
#include <vector>

#include "sim/calibrate/profile/calibration.hpp"

namespace stepsim {

/// GEMMs of a precision that a fit needs at least: three for each of the twelve constants of the
/// tiled form. Judgement.
inline constexpr unsigned kFewestGemms = 36;

struct FewPoints {
  std::string family;  ///< "memory norm"
  std::string path;    ///< where its constants stand: "memory_kernels.norm"
  int points = 0;
  int needed = 0;  ///< 0: no constant is fitted to such points
  Place first;     ///< place of its first point

  bool is_enough() const { return needed > 0 && points >= needed; }
};

/// The records of all files that can be fitted: measured, and enough of a family, as many at least
/// as it has constants that its points show. Points that a fit leaves out do not count, but are
/// among the records, for the fit says so. Families with too few points are added to `few`.
std::vector<PointRecord> fittable(const std::vector<MeasuredFile>& files,
                                  std::vector<FewPoints>& few);

/// The first measured point of that family ("gemm bf16", or what begins with it).
Place first_point_of(const std::vector<MeasuredFile>& files, const std::string& family);

/// Throws UserError where points show no rate: copies whose times do not grow with their bytes, and
/// attention of a kernel and head size, not among the `few`, in backward passes alone.
void check_rates_show(const std::vector<MeasuredFile>& files, const std::vector<FewPoints>& few);

}  // namespace stepsim
