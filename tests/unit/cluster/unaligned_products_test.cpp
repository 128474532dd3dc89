// Products of attention whose heads are not aligned, as measured and as modelled
// (calib/measured/unaligned.csv). Times are compared with those of aligned heads of the same run,
// so that what the model says of all products alike drops out.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {
namespace {

constexpr std::int64_t kTokens = 2048;

struct Row {
  std::string gpu, run, product;
  std::int64_t heads = 0, width = 0;
  double tflops = 0;

  std::int64_t alignment() const { return alignment_of(width, kTokens); }
  std::string group() const { return gpu + " " + run + " " + product; }
};

std::vector<Row> measured_rows(const std::string& gpu) {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/unaligned.csv");
  std::vector<Row> rows;
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(gpu + ",", 0) != 0) continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    Row row;
    std::istringstream(line) >> row.gpu >> row.run >> row.product >> row.heads >> row.width >>
        row.tflops;
    rows.push_back(row);
  }
  return rows;
}

double modelled_seconds(const Row& row, const GpuProfile& gpu) {
  const bool scores = row.product == "scores";
  Gemm gemm{.m = kTokens,
            .n = scores ? kTokens : row.width,
            .k = scores ? row.width : kTokens,
            .batch = row.heads,
            .precision = Precision::fp16};
  gemm.alignment = row.alignment();
  return kernel_time(gemm, gpu).seconds();
}

double measured_seconds(const Row& row) {
  const auto width = static_cast<double>(row.width), heads = static_cast<double>(row.heads);
  return 2 * heads * kTokens * kTokens * width / (row.tflops * 1e12);
}

struct Mean {
  double sum = 0;
  int count = 0;

  void add(double value) { sum += std::log(value), ++count; }
  double value() const { return std::exp(sum / count); }
};

using Groups = std::map<std::string, double>;

/// Modelled over measured time of rows of those alignments, over the same of aligned rows; of
/// each run and product that has some, their geometric means.
Groups over_aligned(const std::string& measured, const std::string& profile,
                    const std::vector<std::int64_t>& alignments) {
  const GpuProfile gpu = load_gpu(profile, Library{{source_folder()}});
  std::map<std::string, Mean> aligned, unaligned;
  for (const Row& row : measured_rows(measured)) {
    const double error = modelled_seconds(row, gpu) / measured_seconds(row);
    if (row.alignment() == kAlignedElements) aligned[row.group()].add(error);
    if (std::count(alignments.begin(), alignments.end(), row.alignment()) > 0)
      unaligned[row.group()].add(error);
  }
  Groups groups;
  for (const auto& [name, mean] : unaligned) groups[name] = mean.value() / aligned.at(name).value();
  return groups;
}

void check_each(const Groups& groups, std::size_t count, double tolerance) {
  CHECK(groups.size() == count);
  for (const auto& [the_name, ratio] : groups) {
    const auto& name = the_name;
    CAPTURE(name);
    CHECK(ratio == doctest::Approx(1).epsilon(tolerance));
  }
}

double geometric_mean(const Groups& groups) {
  Mean mean;
  for (const auto& [name, ratio] : groups) mean.add(ratio);
  return mean.value();
}

}  // namespace

// A profile's factor is the one with which the mean over runs and products is 1, to three digits.
// The other tolerances are how far these lie from it: for odd widths cuBLAS has kernels that suit
// some widths twice as well as others.
constexpr double kMean = 0.005;

TEST_CASE("products of even heads that are not aligned take as long as measured") {
  const Groups a100 = over_aligned("a100", "a100-80", {2, 4});
  check_each(a100, 9, 0.14);
  CHECK(geometric_mean(a100) == doctest::Approx(1).epsilon(kMean));
  const Groups v100 = over_aligned("v100", "v100", {2, 4});
  check_each(v100, 6, 0.2);
  CHECK(geometric_mean(v100) == doctest::Approx(1).epsilon(kMean));
}

TEST_CASE("multiples of four are as slow as those of two") {
  const Groups fours = over_aligned("a100", "a100-80", {4}),
               twos = over_aligned("a100", "a100-80", {2});
  for (const auto& [the_name, ratio] : fours) {
    const auto& name = the_name;
    CAPTURE(name);
    CHECK(ratio == doctest::Approx(twos.at(name)).epsilon(0.01));
  }
}

TEST_CASE("products of odd heads take as long as measured") {
  const Groups a100 = over_aligned("a100", "a100-80", {1});
  check_each(a100, 9, 0.35);
  CHECK(geometric_mean(a100) == doctest::Approx(1).epsilon(kMean));
  const Groups v100 = over_aligned("v100", "v100", {1});
  check_each(v100, 2, 0.02);
  CHECK(geometric_mean(v100) == doctest::Approx(1).epsilon(kMean));
}

}  // namespace stepsim
