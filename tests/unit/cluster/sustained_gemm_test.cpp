// How much slower products are under load: `sustained` is the geometric middle of all sources.
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/scenario/load.hpp"
#include "tests/csv_cells.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {
namespace {

const Library kLibrary{{source_folder()}};
constexpr Precision kPrecision = Precision::fp16;

/// Sum and count of logarithms.
struct Logs {
  double sum = 0;
  int count = 0;
  void add(double log) { sum += log, ++count; }
  double mean() const { return sum / count; }
};

/// Time of the product in this row over that of the profile without `sustained`; or as it is
/// stated.
double over_short_benchmark(const std::vector<std::string>& cells) {
  if (cells[2].empty()) return std::stod(cells[6]);
  Gemm product{std::stoll(cells[2]), std::stoll(cells[3]), std::stoll(cells[4])};
  product.precision = kPrecision;
  const GpuProfile gpu = load_gpu(cells[0], kLibrary);
  const double predicted =
      kernel_time(product, gpu).seconds() / gemm_profile(gpu, kPrecision).sustained;
  return product.flops().base() / (std::stod(cells[5]) * 1e12) / predicted;
}

/// Geometric mean over sources of the geometric mean over the products of each.
double middle_of_sources(const std::vector<std::string>& gpus) {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/gemm_sustained.csv");
  std::map<std::string, Logs> sources;
  for (std::string line; std::getline(file, line);) {
    for (const std::string& gpu : gpus) {
      if (line.rfind(gpu + ",", 0) != 0) continue;
      const auto cells = cells_of(line);
      sources[gpu + cells[1]].add(std::log(over_short_benchmark(cells)));
    }
  }
  Logs all;
  for (const auto& [name, logs] : sources) all.add(logs.mean());
  return std::exp(all.mean());
}

double sustained_of(const std::string& gpu, Precision precision) {
  return gemm_profile(load_gpu(gpu, kLibrary), precision).sustained;
}

}  // namespace

TEST_CASE("large products under load take as much longer as the middle of all sources says") {
  CHECK(sustained_of("a100-80", kPrecision) ==
        doctest::Approx(middle_of_sources({"a100-80"})).epsilon(1e-3));
  CHECK(sustained_of("v100", kPrecision) ==
        doctest::Approx(middle_of_sources({"v100"})).epsilon(2e-3));
  CHECK(sustained_of("h100", kPrecision) ==
        doctest::Approx(middle_of_sources({"h100", "h200"})).epsilon(1e-3));
  CHECK(sustained_of("b200", kPrecision) ==
        doctest::Approx(middle_of_sources({"b200"})).epsilon(1e-3));
}

TEST_CASE("fp8 slows down as bf16 does, and chips of a generation alike") {
  CHECK(sustained_of("h200", kPrecision) == sustained_of("h100", kPrecision));
  CHECK(sustained_of("gb200", kPrecision) == sustained_of("b200", kPrecision));
  for (const char* gpu : {"h100", "h200", "b200", "gb200"}) {
    CAPTURE(gpu);
    CHECK(sustained_of(gpu, Precision::fp8) == sustained_of(gpu, Precision::bf16));
  }
}

}  // namespace stepsim
