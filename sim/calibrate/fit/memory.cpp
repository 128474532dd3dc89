// Rates and the latency of memory-bound kernels.
#include "sim/calibrate/fit/memory.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "sim/calibrate/fit/minimise.hpp"
#include "sim/cluster/kernel_time.hpp"
#include "sim/cluster/memory_rate.hpp"

namespace stepsim::fit {
namespace {

constexpr std::size_t kFewestRows = 3;  // lengths: fewer do not tell a row's from a tensor's size

const MemoryBound& kernel_of(const TimedWork& sample) { return std::get<MemoryBound>(sample.work); }

/// The rate of each class on its largest kernels: those from half of its largest size on. With the
/// rows that `profile` keeps.
std::map<MemoryRate, BytesPerSecond> plateaus(const Samples& samples,
                                              const MemoryProfile& profile) {
  std::map<MemoryRate, Bytes> largest;
  for (const TimedWork& sample : samples) {
    Bytes& size = largest[kernel_of(sample).rate];
    size = std::max(size, kernel_of(sample).bytes);
  }
  std::map<MemoryRate, std::vector<double>> rates;
  for (const TimedWork& sample : samples) {
    const MemoryBound& kernel = kernel_of(sample);
    if (kernel.bytes * 2 >= largest[kernel.rate])
      rates[kernel.rate].push_back(
          (bytes_moved(kernel, profile) / sample.seconds).bytes_per_second());
  }
  std::map<MemoryRate, BytesPerSecond> medians;
  for (auto& [rate, values] : rates) {
    std::ranges::sort(values);
    medians[rate] = BytesPerSecond{values[values.size() / 2]};
  }
  return medians;
}

/// Whether some kernels take more than twice what their bytes alone would: else any latency fits.
bool shows_latency(const Samples& samples, const std::map<MemoryRate, BytesPerSecond>& rates) {
  const auto short_ones = std::ranges::count_if(samples, [&](const auto& sample) {
    return !sample.with_launch &&
           sample.seconds > kernel_of(sample).bytes / rates.at(kernel_of(sample).rate) * 2;
  });
  return short_ones >= 3;
}

/// The lengths of rows of the classes whose kernels come back to them, sorted.
std::map<MemoryRate, std::vector<Bytes>> lengths_of_rows(const Samples& samples) {
  std::map<MemoryRate, std::set<Bytes>> lengths;
  for (const TimedWork& sample : samples) {
    const MemoryBound& kernel = kernel_of(sample);
    if (kernel.again > Bytes{} &&
        (kernel.rate == MemoryRate::norm || kernel.rate == MemoryRate::softmax))
      lengths[kernel.rate].insert(kernel.row);
  }
  std::map<MemoryRate, std::vector<Bytes>> sorted;
  for (const auto& [rate, rows] : lengths)
    if (rows.size() >= kFewestRows) sorted[rate] = {rows.begin(), rows.end()};
  return sorted;
}

/// The time of kernels of one GPU and of the launches that some were timed with.
class Timer {
 public:
  Timer(const MemoryProfile& profile, std::map<MemoryRate, Seconds> launches)
      : launches_(std::move(launches)) {
    gpu_.memory_kernels = profile;
  }
  Seconds time(const TimedWork& sample) const {
    const Seconds kernel = kernel_time(sample.work, gpu_);
    const auto launch = launches_.find(kernel_of(sample).rate);
    return sample.with_launch && launch != launches_.end() ? kernel + launch->second : kernel;
  }

 private:
  GpuProfile gpu_;
  std::map<MemoryRate, Seconds> launches_;
};

/// By class, and whether they are large.
using Groups = std::map<std::pair<MemoryRate, bool>, std::vector<const TimedWork*>>;

Groups groups_of(const Samples& samples) {
  Groups groups;
  for (const TimedWork& sample : samples)
    groups[{kernel_of(sample).rate, sample.large}].push_back(&sample);
  return groups;
}

double mean_log_error(const Groups& groups, const Timer& timer) {
  double sum = 0;
  for (const auto& [key, samples] : groups) {
    double of_group = 0;
    for (const TimedWork* sample : samples)
      of_group += std::abs(std::log(timer.time(*sample) / sample->seconds));
    sum += of_group / static_cast<double>(samples.size());
  }
  return sum / static_cast<double>(groups.size());
}

/// A constant of the profile as a number to search for, and where it goes.
struct Constant {
  Parameter parameter;
  std::function<void(MemoryConstants&, double)> set;
};

/// Logarithms, of each constant over its start. Bounds are judgement: the starts are read off the
/// samples, a rate within a factor of 2.7, a latency of 7, and a launch, which hosts differ in, of
/// 150.
std::vector<Constant> constants_of(const MemoryConstants& start, const Samples& samples) {
  std::vector<Constant> constants;
  if (start.latency_shown)
    constants.push_back({{0, -2, 2}, [&start](MemoryConstants& c, double value) {
                           c.latency = start.latency * std::exp(value);
                         }});
  for (const auto& [rate, first] : start.rates)
    constants.push_back({{0, -1, 1}, [rate = rate, first = first](auto& c, double value) {
                           c.rates[rate] = first * std::exp(value);
                         }});
  for (const auto& [rate, first] : start.launches)
    constants.push_back({{0, -5, 5}, [rate = rate, first = first](auto& c, double value) {
                           c.launches[rate] = first * std::exp(value);
                         }});
  const auto lengths = lengths_of_rows(samples);
  for (const auto& [rate, first] : start.kept_rows) {
    const std::vector<Bytes>& rows = lengths.at(rate);
    constants.push_back({{0, std::log(rows.front() / first / 2), std::log(rows.back() / first)},
                         [rate = rate, first = first](auto& c, double value) {
                           c.kept_rows[rate] = first * std::exp(value);
                         }});
  }
  return constants;
}

/// Constants to begin at: rows at the one that such a share of all are shorter than, and the rates
/// that large kernels have with these.
MemoryConstants start_at(const Samples& samples, const MemoryProfile& base, double share) {
  constexpr Seconds kLaunch{10e-6};  // judgement: between a kernel's latency and a slow framework's
  MemoryConstants start{.latency = base.latency};
  for (const auto& [rate, rows] : lengths_of_rows(samples))
    start.kept_rows[rate] =
        rows[static_cast<std::size_t>(share * static_cast<double>(rows.size()))];
  start.rates = plateaus(samples, with_constants(base, start));
  start.latency_shown = shows_latency(samples, start.rates);
  for (const TimedWork& sample : samples)
    if (sample.with_launch) start.launches[kernel_of(sample).rate] = kLaunch;
  return start;
}

/// What comes back to its rows does not stream faster than what does not: else short rows that are
/// taken to be read twice would pass for a memory that is faster than it is.
void bound_rates(MemoryConstants& c, const MemoryProfile& base) {
  const auto measured = c.rates.find(MemoryRate::elementwise);
  const BytesPerSecond most = measured == c.rates.end() ? base.elementwise : measured->second;
  if (most <= BytesPerSecond{}) return;
  for (const auto& [rate, row] : c.kept_rows) c.rates[rate] = std::min(c.rates[rate], most);
}

void round_to_digits(MemoryConstants& c) {
  c.latency = rounded(c.latency, 1e-6);
  for (auto& [rate, value] : c.rates) value = rounded(value, 1e9);
  for (auto& [rate, value] : c.kept_rows) value = rounded(value, 1024);
  for (auto& [rate, value] : c.launches) value = rounded(value, 1e-6);
}

}  // namespace

MemoryConstants fit_memory(const Samples& samples, const MemoryProfile& base) {
  const Groups groups = groups_of(samples);
  const auto error_of = [&](const MemoryConstants& constants) {
    return mean_log_error(groups, {with_constants(base, constants), constants.launches});
  };
  // A row that is longer than all, or shorter than half of all, changes nothing: several starts.
  const bool with_rows = !lengths_of_rows(samples).empty();
  const std::vector<double> shares =
      with_rows ? std::vector<double>{0, 0.2, 0.5, 0.8} : std::vector<double>{0};
  std::optional<MemoryConstants> best;
  for (const double share : shares) {
    const MemoryConstants start = start_at(samples, base, share);
    const std::vector<Constant> constants = constants_of(start, samples);
    const auto fit_of = [&](const std::vector<double>& values) {
      MemoryConstants fit = start;
      for (std::size_t i = 0; i < values.size(); ++i) constants[i].set(fit, values[i]);
      bound_rates(fit, base);
      return fit;
    };
    std::vector<Parameter> parameters;
    for (const Constant& constant : constants) parameters.push_back(constant.parameter);
    const MemoryConstants fit = fit_of(minimise(
        [&](const std::vector<double>& values) { return error_of(fit_of(values)); }, parameters));
    if (!best || error_of(fit) < error_of(*best)) best = fit;
  }
  round_to_digits(*best);
  return *best;
}

MemoryProfile with_constants(MemoryProfile base, const MemoryConstants& constants) {
  base.latency = constants.latency;
  for (const auto& [rate, value] : constants.rates) base.*class_of(rate).rate = value;
  if (!constants.kept_rows.empty() && !base.kept_row) base.kept_row.emplace();
  for (const auto& [rate, value] : constants.kept_rows)
    (rate == MemoryRate::norm ? base.kept_row->norm : base.kept_row->softmax) = value;
  return base;
}

Errors memory_errors(const MemoryProfile& profile, const std::map<MemoryRate, Seconds>& launches,
                     const Samples& samples) {
  const Timer timer(profile, launches);
  return errors_of_times([&](const TimedWork& sample) { return timer.time(sample); }, samples);
}

}  // namespace stepsim::fit
