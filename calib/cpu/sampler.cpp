// Chooses how many calls make a sample, and how many samples a measurement.
#include "calib/cpu/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "calib/cpu/stopwatch.hpp"

namespace stepsim::cpu {
namespace {

/// The length of a sample and of all samples, in seconds, and their number. A sample has at least
/// half a millisecond, a thousand times what reading the clocks takes; 7 to 60 samples fill 0.06 s.
/// Judgement: a quartile of seven is still one of them, and all points together take less than a
/// minute.
constexpr double kSample = 0.5e-3, kAll = 0.06;
constexpr double kFewest = 7, kMost = 60, kMostCalls = 10000;
/// The seconds on the clock for samples that ranks take together. Judgement: ten times kAll,
/// because samples in which a rank had to wait do not count.
constexpr double kMostTogether = 0.6;

struct Sample {
  double seconds = 0;      ///< seconds of each call
  bool disturbed = false;  ///< true: somebody else had the core for a while
};

class Series {
 public:
  explicit Series(const Once& once) : once_(once) {}
  Sample sample(int calls) {
    const Moment start = now();
    for (int i = 0; i < calls; ++i) once_(turn_++);
    const Elapsed taken = now() - start;
    return {std::max(taken.undisturbed(), 1e-9) / calls, taken.waiting > 0};
  }

 private:
  const Once& once_;
  int turn_ = 0;
};

/// How many calls make a sample, and how many samples a measurement.
struct Counts {
  int calls, samples;
};

/// The counts by the fastest of five calls on any rank; the first call warms up pages and caches.
Counts counts_for(const Ranks& ranks, Series& series) {
  double rough = 1e9;
  for (int i = 0; i < 5; ++i) {
    ranks.barrier();
    const double seconds = series.sample(1).seconds;
    if (i > 0) rough = std::min(rough, seconds);
    if (ranks.smallest(seconds) > kAll) break;
  }
  rough = ranks.smallest(rough);
  const double calls = std::clamp(std::ceil(kSample / rough), 1.0, kMostCalls);
  return {static_cast<int>(calls),
          static_cast<int>(std::clamp(std::ceil(kAll / (rough * calls)), kFewest, kMost))};
}

}  // namespace

Timing time_alone(const Ranks& ranks, const Once& once) {
  Series series(once);
  const Counts counts = counts_for(ranks, series);
  std::vector<double> samples;
  ranks.barrier();
  for (int i = 0; i < counts.samples; ++i) samples.push_back(series.sample(counts.calls).seconds);
  Timing timing = summarise(samples);
  for (double* value : {&timing.seconds, &timing.p10, &timing.p90}) *value = ranks.mean(*value);
  return timing;
}

Timing time_together(const Ranks& ranks, const Once& once) {
  Series series(once);
  const Counts counts = counts_for(ranks, series);
  std::vector<double> undisturbed, all;
  const Moment start = now();
  // On a busy machine more samples are taken, until enough had all cores to themselves.
  while (static_cast<int>(undisturbed.size()) < counts.samples &&
         ranks.of_first((now() - start).wall) < kMostTogether) {
    ranks.barrier();
    const Sample sample = series.sample(counts.calls);
    const bool was_disturbed = ranks.largest(sample.disturbed ? 1 : 0) > 0;
    all.push_back(ranks.smallest(sample.seconds));
    if (!was_disturbed) undisturbed.push_back(all.back());
  }
  const bool enough = static_cast<double>(undisturbed.size()) >= kFewest / 2;
  if (enough) return summarise(undisturbed);
  // The samples that were disturbed least are kept: what others took can only have made a sample
  // longer.
  const double limit = quantile(all, 0.25);
  std::erase_if(all, [&](double seconds) { return seconds > limit; });
  return summarise(all);
}

}  // namespace stepsim::cpu
