// How much slower products are beside a collective: `gemm_contention` is the geometric middle of
// all sources.
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/scenario/load.hpp"
#include "tests/csv_cells.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {
namespace {

const Library kLibrary{{source_folder()}};

/// Natural logarithms of what the SMs that are left do not explain, by source.
std::map<std::string, std::vector<double>> sources_of(const std::string& gpu) {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/gemm_contention.csv");
  std::map<std::string, std::vector<double>> sources;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(gpu + ",", 0) != 0) continue;
    const auto cells = cells_of(line);
    const double held = cells[3].empty() ? 0 : std::stod(cells[3]);
    const double left = 1 - held / std::stod(cells[1]);
    sources[cells[2]].push_back(std::log(std::stod(cells[4]) * left));
  }
  return sources;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double middle_of_sources(const std::string& gpu) {
  std::vector<double> each;
  for (const auto& [name, logs] : sources_of(gpu)) each.push_back(mean(logs));
  return std::exp(mean(each));
}

double contention_of(const std::string& gpu) { return load_gpu(gpu, kLibrary).gemm_contention; }

}  // namespace

TEST_CASE("products beside a collective take as much longer as the middle of all sources says") {
  REQUIRE(sources_of("a100-80").size() == 3);
  REQUIRE(sources_of("h100").size() == 4);
  CHECK(contention_of("a100-80") == doctest::Approx(middle_of_sources("a100-80")).epsilon(1e-3));
  CHECK(contention_of("h100") == doctest::Approx(middle_of_sources("h100")).epsilon(1e-3));
}

TEST_CASE("chips of a generation contend alike, and those that nobody measured not at all") {
  CHECK(contention_of("a100-40") == contention_of("a100-80"));
  CHECK(contention_of("h200") == contention_of("h100"));
  CHECK(contention_of("h100-hbm2e") == contention_of("h100"));
  for (const char* gpu : {"v100", "b200", "gb200", "l40s"}) {
    CAPTURE(gpu);
    CHECK(contention_of(gpu) == 1);
  }
}

}  // namespace stepsim
