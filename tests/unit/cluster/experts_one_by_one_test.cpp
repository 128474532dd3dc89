// How long products take of experts, in one kernel and one by one, and of gradients in fp8.
#include <cmath>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/scenario/load.hpp"
#include "tests/csv_cells.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {
namespace {

const Library kLibrary{{source_folder()}};

/// Logarithms of measured over modelled times.
struct Misses {
  double sum = 0, distance = 0;
  int count = 0;

  void add(double log) {
    sum += log;
    distance += std::abs(log);
    ++count;
  }
  double bias() const { return std::exp(sum / count); }
  double mean() const { return std::exp(distance / count) - 1; }
};

Gemm product(const std::vector<std::string>& cells) {
  const auto number = [&](std::size_t i) { return std::stoll(cells[i]); };
  const std::string& pass = cells[1];
  const std::int64_t rows = number(3), in = number(4), out = number(5);
  Gemm gemm{.m = rows, .n = out, .k = in, .batch = number(2)};
  if (pass == "input_gradient") std::swap(gemm.n, gemm.k);
  if (pass == "weight_gradient") {
    gemm = {.m = out, .n = in, .k = rows, .batch = number(2)};
    gemm.weight_gradient = true;
  }
  return gemm;
}

/// Of products that were run in this way; `one_by_one`: predicted as kernels of their own.
Misses misses(const std::string& way, bool one_by_one) {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/h100_experts.csv");
  const GpuProfile gpu = load_gpu("h100", kLibrary);
  Misses all;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(way + ",", 0) != 0) continue;
    const auto cells = cells_of(line);
    Gemm gemm = product(cells);
    gemm.one_by_one = one_by_one;
    gemm.grouped = !one_by_one;
    all.add(std::log(std::stod(cells[6]) * 1e-6 / kernel_time(gemm, gpu).seconds()));
  }
  return all;
}

}  // namespace

TEST_CASE("experts' products one by one take the sum of what each takes") {
  const auto check = [](const char* way, int count, double largest_mean) {
    CAPTURE(way);
    const Misses alone = misses(way, true), joined = misses(way, false);
    REQUIRE(alone.count == count);
    CHECK(alone.bias() == doctest::Approx(1.02).epsilon(0.02));
    CHECK(alone.mean() < largest_mean);
    CHECK(alone.mean() < 0.8 * joined.mean());
  };
  check("one_by_one", 60, 0.055);
  check("four_streams", 20, 0.08);
}

TEST_CASE("experts' products in one kernel take the A100's factor on an H100 as well") {
  const Misses joined = misses("one_kernel", false);
  REQUIRE(joined.count == 60);
  CHECK(joined.bias() == doctest::Approx(1).epsilon(0.02));
  CHECK(joined.mean() < 0.06);
}

TEST_CASE("sums that go to fp32 on the way cost what a power limit does not take already") {
  GpuProfile gpu = load_gpu("h100", kLibrary);
  Gemm gemm{.m = 8192, .n = 8192, .k = 8192, .precision = Precision::fp8};
  const double fast = kernel_time(gemm, gpu).seconds();
  gemm.split_accumulator = true;
  CHECK(kernel_time(gemm, gpu).seconds() == doctest::Approx(fast * 1.15 / 1.10).epsilon(1e-9));
  gemm.blockwise = true;  // which has a factor of its own
  CHECK(kernel_time(gemm, gpu).seconds() < fast * 1.15 / 1.10);
}

}  // namespace stepsim
