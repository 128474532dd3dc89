// The measured table, by recorder.
#include "sim/recording/recorder_cost.hpp"

namespace stepsim {
namespace {

/// Rows of calib/measured/recorders.csv in its order, which counts up: stacks are bit 0, memory is
/// bit 1, shapes are bit 2.
constexpr double kSlowdowns[] = {1.69, 1.96, 1.49, 1.80, 1.67, 1.98, 1.93, 2.20};

}  // namespace

double recorder_slowdown(const ReadingNotes& notes) {
  if (!notes.has_operators) return 1;
  return kSlowdowns[(notes.has_stacks ? 1 : 0) + (notes.has_memory ? 2 : 0) +
                    (notes.has_shapes ? 4 : 0)];
}

}  // namespace stepsim
