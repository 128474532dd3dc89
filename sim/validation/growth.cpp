// Fits a line of one slope through the errors of each job.
#include "sim/validation/growth.hpp"

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "sim/validation/score.hpp"

namespace stepsim {
namespace {

struct Point {
  int gpus = 0;
  double error = 0;
};
using Job = std::vector<Point>;

/// The jobs that were run on two numbers of GPUs or more.
std::vector<Job> jobs_of(const std::vector<ValidationRow>& rows,
                         std::string ValidationRow::*fingerprint) {
  std::map<std::array<std::string, 3>, Job> all;
  for (const ValidationRow& row : rows)
    if (row.predicted && row.known.empty() && row.traits.gpus > 0)
      all[{row.suite, row.software(), row.*fingerprint}].push_back({row.traits.gpus, row.error()});
  std::vector<Job> jobs;
  for (const auto& [key, job] : all) {
    std::set<int> sizes;
    for (const Point& point : job) sizes.insert(point.gpus);
    if (sizes.size() > 1) jobs.push_back(job);
  }
  return jobs;
}

/// Sums of products of deviations from each job's own means.
struct Sums {
  double xx = 0, xy = 0, yy = 0;
};

void add(const Job& job, Sums& sums) {
  double x = 0, y = 0;
  for (const Point& point : job) {
    x += std::log2(point.gpus) / static_cast<double>(job.size());
    y += point.error / static_cast<double>(job.size());
  }
  for (const Point& point : job) {
    const double dx = std::log2(point.gpus) - x, dy = point.error - y;
    sums.xx += dx * dx;
    sums.xy += dx * dy;
    sums.yy += dy * dy;
  }
}

std::optional<Growth> fitted(const std::vector<Job>& jobs) {
  Growth growth{.jobs = static_cast<int>(jobs.size())};
  std::set<int> sizes;
  Sums sums;
  for (const Job& job : jobs) {
    growth.rows += static_cast<int>(job.size());
    for (const Point& point : job) sizes.insert(point.gpus);
    add(job, sums);
  }
  growth.sizes = static_cast<int>(sizes.size());
  const int free = growth.rows - growth.jobs - 1;
  if (growth.sizes < kSizesOfSlope || free < 1) return std::nullopt;
  growth.slope = sums.xy / sums.xx;
  const double left = std::max(0.0, sums.yy - growth.slope * sums.xy);
  growth.uncertainty = std::sqrt(left / free / sums.xx);
  return growth;
}

}  // namespace

std::optional<Growth> growth_of(const std::vector<ValidationRow>& rows) {
  if (auto growth = fitted(jobs_of(rows, &ValidationRow::sizeless))) return growth;
  auto growth = fitted(jobs_of(rows, &ValidationRow::sizeless_job));
  if (growth) growth->is_as_split = false;
  return growth;
}

}  // namespace stepsim
