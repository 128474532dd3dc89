// A bench that measures a GPU of known constants, with noise, and what a calibration makes of it.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/calibrate/profile/calibration.hpp"
#include "sim/cluster/kernel_time.hpp"
#include "sim/core/random.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {

inline constexpr double kNoise = 0.03;  // standard deviation of a measured time over the true one

/// A normal variate of the key (Box and Muller 1958).
inline double normal(RandomKey key) {
  return std::sqrt(-2 * std::log(key.with(1).uniform())) *
         std::cos(6.283185307179586 * key.with(2).uniform());
}

/// The library of all tests: its profiles are parsed once.
inline const Library& shipped() {
  static const Library library = library_for("scenario.yaml");
  return library;
}

class Bench {
 public:
  explicit Bench(const std::string& gpu) : gpu_(load_gpu(gpu, shipped())) {
    file_.name = "bench.json";
    file_.content.device.name = "NVIDIA H100 80GB HBM3";
    file_.content.device.compute_major = 9;
    file_.content.device.sms = gpu_.sms;
    file_.content.started = "2026-01-31T12:00:00Z";
  }

  GpuProfile& gpu() { return gpu_; }
  std::vector<MeasuredFile> files() const { return {file_}; }

  void add(const Point& point, Seconds true_time, bool with_launch = false) {
    const double seconds =
        true_time.seconds() *
        std::exp(kNoise * normal(RandomKey(7).with(file_.content.records.size())));
    PointRecord record{point, {}, ""};
    record.measured.timing = {seconds, seconds, seconds, 10};
    record.measured.with_launch = with_launch;
    file_.content.records.push_back(record);
  }

  void add_memory(MemoryOp op, MemoryRate kind) {
    for (std::int64_t bytes = 1 << 14; bytes <= 1 << 30; bytes *= 2)
      add(MemoryOpPoint{op, Precision::bf16, 1, bytes / 4, bytes},
          kernel_time(MemoryBound{Bytes{static_cast<double>(bytes)}, kind}, gpu_));
  }

  /// `cache`: seconds a byte of keys and values, which are written into a cache.
  void add_attention(bool causal, bool backward, double cache = 0) {
    for (std::int64_t sequence = 512; sequence <= 32768; sequence *= 2) {
      for (const std::int64_t heads : {8, 32}) {
        const FusedAttention work{.kernel = "flash3",
                                  .batch = 32768 / sequence,
                                  .heads = heads,
                                  .head_dim = 128,
                                  .sequence = sequence,
                                  .backward = backward,
                                  .causal = causal};
        const std::int64_t kv_heads = cache > 0 && heads > 8 ? 4 : heads;
        add(AttentionPoint{Precision::bf16,
                           backward ? AttentionPass::backward : AttentionPass::forward, causal,
                           work.batch, heads, kv_heads, sequence, 128, AttentionKernel::flash3,
                           cache > 0},
            kernel_time(work, gpu_) +
                Seconds{cache * 2 * 2 *
                        static_cast<double>(work.batch * kv_heads * sequence * 128)});
      }
    }
  }

 private:
  GpuProfile gpu_;
  MeasuredFile file_;
};

inline GpuProfile fitted(const Bench& bench) {
  return parse_gpu(calibrate(bench.files(), {.gpu = "mine"}, shipped()).gpu_text, "mine.yaml");
}

inline const FamilyReport& family(const Calibration& made, const std::string& name) {
  for (const FamilyReport& report : made.families)
    if (report.family == name) return report;
  throw std::runtime_error("no family " + name);
}

}  // namespace stepsim
