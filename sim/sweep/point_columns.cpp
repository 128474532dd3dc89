// The one place that knows the order of a point's numbers.
#include "sim/sweep/point_columns.hpp"

#include <array>

#include <fmt/format.h>

namespace stepsim {
namespace {

constexpr std::array kNumbers{NumberColumn{"step_time_s"},
                              NumberColumn{"mfu"},
                              NumberColumn{"tokens_per_s", true},
                              NumberColumn{"samples_per_s"},
                              NumberColumn{"tokens_per_s_per_gpu", true},
                              NumberColumn{"peak_memory_bytes", false, true},
                              NumberColumn{"memory_capacity_bytes", false, true},
                              NumberColumn{"gpus"},
                              NumberColumn{"cost_dollars", true}};

}  // namespace

std::span<const NumberColumn> plain_columns() { return kNumbers; }

const std::vector<std::string>& number_columns() {
  static const std::vector<std::string> columns = [] {
    std::vector<std::string> all;
    for (const NumberColumn& column : kNumbers) all.emplace_back(column.name);
    for (std::size_t i = 0; i < kCauses; ++i)
      all.push_back(fmt::format("{}_s", name_of(static_cast<Cause>(i))));
    return all;
  }();
  return columns;
}

std::vector<double> number_values(const PointNumbers& n) {
  std::vector<double> values{n.step.seconds(),
                             n.mfu,
                             n.tokens_per_s,
                             n.samples_per_s,
                             n.gpus > 0 ? n.tokens_per_s / n.gpus : 0,
                             n.peak.bytes(),
                             n.capacity.bytes(),
                             n.gpus,
                             n.dollars};
  values.insert(values.end(), n.breakdown.begin(), n.breakdown.end());
  return values;
}

PointNumbers numbers_of_columns(const std::vector<double>& values) {
  PointNumbers n{.step = Seconds{values[0]},
                 .mfu = values[1],
                 .tokens_per_s = values[2],
                 .samples_per_s = values[3],
                 .peak = Bytes{values[5]},
                 .capacity = Bytes{values[6]},
                 .gpus = values[7],
                 .dollars = values[8]};
  for (std::size_t i = 0; i < kCauses; ++i) n.breakdown[i] = values[kNumbers.size() + i];
  return n;
}

}  // namespace stepsim
