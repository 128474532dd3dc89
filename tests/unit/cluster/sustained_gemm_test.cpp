// How much slower products are under load: `sustained` is the geometric middle of all sources.
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/names.hpp"
#include "tests/csv_cells.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {
namespace {

const Library kLibrary{{source_folder()}};
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
  product.precision = Precision::fp16;
  const GpuProfile gpu = load_gpu(cells[0], kLibrary);
  const double predicted =
      kernel_time(product, gpu).seconds() / gemm_profile(gpu, product.precision).sustained;
  return product.flops().base() / (std::stod(cells[5]) * 1e12) / predicted;
}

/// Geometric mean over sources of the geometric mean over the products of each.
double middle_of_sources(const std::vector<std::string>& gpus,
                         const std::string& precision = "bf16") {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/gemm_sustained.csv");
  std::map<std::string, Logs> sources;
  for (std::string line; std::getline(file, line);) {
    for (const std::string& gpu : gpus) {
      if (line.rfind(gpu + ",", 0) != 0) continue;
      const auto cells = cells_of(line);
      if (cells.at(7) != precision) continue;
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
  const auto check = [](const char* gpu, Precision precision, double middle) {
    CAPTURE(gpu);
    CAPTURE(name_of(precision));
    CHECK(sustained_of(gpu, precision) == doctest::Approx(middle).epsilon(1.5e-3));
  };
  check("a100-80", Precision::fp16, middle_of_sources({"a100-80"}));
  check("a100-40", Precision::bf16, middle_of_sources({"a100-80"}));
  check("v100", Precision::fp16, middle_of_sources({"v100"}));
  for (const char* gpu : {"b200", "gb200", "b300", "gb300"}) {
    check(gpu, Precision::bf16, middle_of_sources({"b200", "gb200"}));
    check(gpu, Precision::fp8, middle_of_sources({"b200", "gb200"}, "fp8"));
    check(gpu, Precision::nvfp4, middle_of_sources({"b200", "gb200"}, "nvfp4"));
  }
  for (const char* gpu : {"h100", "h200"}) {
    check(gpu, Precision::bf16, middle_of_sources({"h100", "h200"}));
    // It meets the same power limit, and no product under load was found.
    check(gpu, Precision::fp8, middle_of_sources({"h100", "h200"}));
  }
}

}  // namespace stepsim
