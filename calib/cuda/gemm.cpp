// Measures matrix products, in a burst or when the clock has settled.
#include "calib/cuda/device.hpp"
#include "calib/cuda/matmul.hpp"
#include "calib/cuda/measure.hpp"
#include "calib/harness/repetition.hpp"
#include "sim/calibrate/measurement/work.hpp"

namespace stepsim::calib::cuda {

Measured measure_gemm(const GemmPoint& point, const DeviceFacts& device) {
  // The seconds of warm-up. Power limits act within a second or two; the clock follows the
  // temperature more slowly.
  constexpr double kSettled = 5, kBurst = 0.05;
  StopwatchSettings settings;
  settings.turns = turns_for(footprint_of(point), device.l2_bytes, free_memory());
  settings.warm_up_s = point.sustained ? kSettled : kBurst;
  const Matmul matmul(point, settings.turns);
  Measured measured;
  measured.timing = time_batch(matmul.batch(), settings);
  return measured;
}

}  // namespace stepsim::calib::cuda
