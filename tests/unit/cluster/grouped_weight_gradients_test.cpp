// How long experts' weight gradients take that add to gradients: by the bytes of these.
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/cluster/gemm/gemm.hpp"
#include "sim/scenario/load.hpp"
#include "tests/csv_cells.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {
namespace {

const Library kLibrary{{source_folder()}};

struct Measured {
  Gemm gemm;
  double seconds = 0;
};

std::vector<Measured> measured_on(const std::string& gpu) {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/grouped_weight_gradients.csv");
  std::vector<Measured> all;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(gpu + ",", 0) != 0) continue;
    const auto cells = cells_of(line);
    const auto number = [&](int i) { return std::stoll(cells[static_cast<std::size_t>(i)]); };
    Gemm gemm{number(3), number(4), number(2), number(1), true, Precision::bf16, true};
    gemm.adds_to = cells[5] == "fp32" ? 4 : 2;
    all.push_back({gemm, std::stod(cells[6]) * 1e-6});
  }
  return all;
}

const GemmProfile& bf16_of(const GpuProfile& gpu) {
  for (const GemmProfile& each : gpu.gemm)
    if (each.precision == Precision::bf16) return each;
  throw std::runtime_error("a GPU without bf16");
}

/// Logarithms of measured over modelled times, without factors for groups or settled clocks.
std::vector<double> misses(const std::vector<Measured>& all, const GemmProfile& profile,
                           const GpuProfile& gpu, bool adds) {
  std::vector<double> logs;
  for (Measured each : all) {
    if (!adds) each.gemm.adds_to = 0;
    const Seconds time = gemm_seconds(gemm_kernel(each.gemm), profile, gemm_device(gpu));
    logs.push_back(std::log(each.seconds / (time.seconds() * profile.weight_gradient)));
  }
  return logs;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// The mean distance from the mean, which is what no factor mends.
double spread(std::vector<double> logs) {
  const double middle = mean(logs);
  for (double& each : logs) each = std::abs(each - middle);
  return mean(logs);
}

}  // namespace

TEST_CASE("a product that adds to a gradient reads it and writes it in the gradient's type") {
  Gemm gemm{256, 512, 64, 4, true, Precision::bf16, true};
  const double operands = 2 * (256 * 64 + 64 * 512), elements = 256 * 512;
  CHECK(gemm_kernel(gemm).bytes == 4 * (operands + 2 * elements));
  gemm.adds_to = 4;
  CHECK(gemm_kernel(gemm).bytes == 4 * (operands + 8 * elements));
  gemm.adds_to = 2;
  CHECK(gemm_kernel(gemm).bytes == 4 * (operands + 4 * elements));
}

TEST_CASE("B200: the gradients' bytes explain most of how long experts' weight gradients take") {
  // The measured machine's products are slower than others', its memory is not.
  const GpuProfile gpu = load_gpu("b200", kLibrary), slow = load_gpu("b200-simumax", kLibrary);
  GemmProfile profile = bf16_of(slow);
  profile.memory_efficiency = bf16_of(gpu).memory_efficiency;
  const auto all = measured_on("b200");
  REQUIRE(all.size() == 36);
  const auto with = misses(all, profile, slow, true), without = misses(all, profile, slow, false);
  CHECK(spread(with) < 0.065);
  CHECK(spread(without) > 0.15);
  CHECK(std::exp(mean(with)) ==
        doctest::Approx(bf16_of(gpu).grouped_weight_gradient).epsilon(0.02));
}

TEST_CASE("A100: experts' weight gradients take the factor that is left beside their bytes") {
  const GpuProfile gpu = load_gpu("a100-80", kLibrary);
  const auto all = measured_on("a100-80");
  REQUIRE(all.size() == 4);
  const auto with = misses(all, bf16_of(gpu), gpu, true);
  CHECK(std::exp(mean(with)) ==
        doctest::Approx(bf16_of(gpu).grouped_weight_gradient).epsilon(0.01));
}

}  // namespace stepsim
