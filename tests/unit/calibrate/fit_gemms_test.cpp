// GEMMs that a known profile made, with noise, give its times back; every layout is told.
#include <cmath>

#include <doctest/doctest.h>

#include "sim/cluster/gemm/gemm.hpp"
#include "sim/core/error.hpp"
#include "tests/unit/calibrate/bench.hpp"

using namespace stepsim;

namespace {

GemmProfile& gemm_of(GpuProfile& gpu, Precision precision) {
  for (GemmProfile& one : gpu.gemm)
    if (one.precision == precision) return one;
  throw std::runtime_error("no such precision");
}

/// A product as models have it: multiples of 8, above 0.001 TFLOP.
Gemm shape(std::uint64_t number, Precision precision) {
  const RandomKey key = RandomKey(3).with(number);
  const auto size = [&](std::uint64_t part, double low, double high) {
    return 8 * static_cast<std::int64_t>(std::exp2(low + (high - low) * key.with(part).uniform()));
  };
  Gemm gemm{size(0, 5, 12), size(1, 6, 12), size(2, 6, 12)};
  gemm.precision = precision;
  return gemm;
}

/// Time without the factors of training.
Seconds alone(const Gemm& gemm, GpuProfile& gpu) {
  return gemm_seconds(gemm_kernel(gemm), gemm_of(gpu, gemm.precision), gemm_device(gpu));
}

/// An H100 whose GEMMs are not those of the shipped profile.
Bench slow_bench() {
  Bench bench("h100");
  for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::fp8}) {
    GemmProfile& gemm = gemm_of(bench.gpu(), precision);
    gemm.efficiency = 0.66;
    gemm.memory_efficiency = 0.6;
    gemm.overhead = Seconds{6e-6};
    std::get<TiledGemm>(gemm.form).correction.reset();
  }
  return bench;
}

/// `count` rows like `row`, each `factor` times what the profile has, and `quantised` beside it.
void add_gemms(Bench& bench, Precision precision, int count, GemmPoint row = {},
               double factor = 1) {
  row.dtype = precision;
  for (int i = 0; i < count; ++i) {
    const Gemm gemm = shape(static_cast<std::uint64_t>(i), precision);
    row.m = gemm.m, row.n = gemm.n, row.k = gemm.k;
    const Bytes beside{static_cast<double>(row.quantised_bytes * gemm.m * gemm.k)};
    bench.add(row,
              alone(gemm, bench.gpu()) * factor + beside / (bench.gpu().memory_bandwidth * 0.8));
  }
}

/// Mean |modelled / true - 1| on shapes that were not measured.
double error_of(GpuProfile mine, Bench& bench, Precision precision) {
  double sum = 0;
  constexpr int kShapes = 50;
  for (std::uint64_t i = 1000; i < 1000 + kShapes; ++i) {
    const Gemm gemm = shape(i, precision);
    sum += std::abs(alone(gemm, mine) / alone(gemm, bench.gpu()) - 1);
  }
  return sum / kShapes;
}

}  // namespace

TEST_CASE("GEMMs: each precision takes the times of the profile that made its points") {
  Bench bench = slow_bench();
  add_gemms(bench, Precision::bf16, 120);
  add_gemms(bench, Precision::fp8, 80, {.quantised_bytes = 5});
  add_gemms(bench, Precision::fp16, 10);  // too few products to fit
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  GpuProfile mine = parse_gpu(made.gpu_text, "mine.yaml");
  CHECK(error_of(mine, bench, Precision::bf16) < kNoise);
  CHECK(error_of(mine, bench, Precision::fp8) < kNoise);
  const FamilyReport& bf16 = family(made, "gemm bf16");
  CHECK(bf16.held_out);
  CHECK(bf16.errors.points == 120);
  CHECK(bf16.errors.mean > kNoise / 2);
  CHECK(bf16.errors.mean < 2 * kNoise);
  CHECK(bf16.base_errors->mean > 0.15);
  CHECK(bf16.remark.find("without a correction, which needs 2125 points") != std::string::npos);
  CHECK(family(made, "gemm fp8, quantised").errors.points == 80);
  CHECK(family(made, "gemm fp16").remark ==
        "as bf16, as h100 has it: 10 points of gemm fp16, a fit needs at least 36");
  CHECK(family(made, "gemm tf32").remark == "as h100, not measured");
  const GemmRange& range = gemm_of(mine, Precision::bf16).range;
  REQUIRE(range.m);
  CHECK(range.m->least >= 256);
  CHECK(range.k->most <= 32768);
  CHECK(gemm_of(mine, Precision::tf32) == gemm_of(bench.gpu(), Precision::tf32));
}

TEST_CASE("GEMMs of another layout are told beside the fit, and give factors") {
  Bench bench = slow_bench();
  add_gemms(bench, Precision::bf16, 120);
  add_gemms(bench, Precision::bf16, 12, {.transpose = Transpose::NN}, 1.5);
  add_gemms(bench, Precision::bf16, 12, {.transpose = Transpose::NT, .accumulate = true}, 1.3);
  add_gemms(bench, Precision::bf16, 4, {.sustained = true}, 1.2);
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  GpuProfile mine = parse_gpu(made.gpu_text, "mine.yaml");
  const GemmProfile& bf16 = gemm_of(mine, Precision::bf16);
  CHECK(bf16.weight_gradient == doctest::Approx(1.3).epsilon(kNoise));
  CHECK(bf16.sustained == doctest::Approx(1.2).epsilon(kNoise));
  CHECK(family(made, "gemm bf16").errors.points == 120);
  CHECK(family(made, "gemm bf16, NN").errors.mean == doctest::Approx(0.33).epsilon(0.1));
  CHECK(family(made, "gemm bf16, NN").held_out);
  CHECK(family(made, "gemm bf16, NT, accumulated").errors.mean < 2 * kNoise);
  CHECK_FALSE(family(made, "gemm bf16, NT, accumulated").held_out);
  CHECK(family(made, "gemm bf16, sustained").errors.mean < 2 * kNoise);
  CHECK(made.gpu_text.find("source: gemm-bf16-weight-gradient}") != std::string::npos);
}

TEST_CASE("GEMMs: the gradient's factor of sustained rows comes on top of that of sustained ones") {
  const GemmPoint gradients{.transpose = Transpose::NT, .accumulate = true, .sustained = true};
  Bench both = slow_bench();
  add_gemms(both, Precision::bf16, 120);
  add_gemms(both, Precision::bf16, 12, {.sustained = true}, 1.2);
  add_gemms(both, Precision::bf16, 12, gradients, 1.2 * 1.3);
  GpuProfile mine = fitted(both);
  CHECK(gemm_of(mine, Precision::bf16).sustained == doctest::Approx(1.2).epsilon(kNoise));
  CHECK(gemm_of(mine, Precision::bf16).weight_gradient == doctest::Approx(1.3).epsilon(kNoise));
  Bench alone = slow_bench();
  add_gemms(alone, Precision::bf16, 60, {.sustained = true}, 1.1);
  add_gemms(alone, Precision::bf16, 12, gradients, 1.1 * 1.3);
  mine = fitted(alone);
  CHECK(gemm_of(mine, Precision::bf16).sustained == 1);
  CHECK(gemm_of(mine, Precision::bf16).weight_gradient == doctest::Approx(1.3).epsilon(kNoise));
}

TEST_CASE("GEMMs of one layout that are few are fitted together with the others") {
  Bench bench = slow_bench();
  add_gemms(bench, Precision::bf16, 40);
  add_gemms(bench, Precision::bf16, 40, {.transpose = Transpose::NN}, 1.1);
  add_gemms(bench, Precision::bf16, 12, {.transpose = Transpose::NT, .accumulate = true}, 1.3);
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  CHECK(family(made, "gemm bf16").errors.points == 80);
  GpuProfile mine = parse_gpu(made.gpu_text, "mine.yaml");
  CHECK(gemm_of(mine, Precision::bf16).weight_gradient ==
        doctest::Approx(1.3 / 1.05).epsilon(2 * kNoise));
}

TEST_CASE("GEMMs: what the base has alike in two precisions stays alike") {
  Bench bench = slow_bench();
  add_gemms(bench, Precision::bf16, 40);
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  GpuProfile mine = parse_gpu(made.gpu_text, "mine.yaml");
  CHECK(family(made, "gemm fp16").remark == "as bf16, as h100 has it");
  CHECK(gemm_of(mine, Precision::fp16).efficiency == gemm_of(mine, Precision::bf16).efficiency);
}

TEST_CASE("GEMMs: a base with the smooth form is fitted in that form, other precisions left out") {
  Bench bench("v100");
  GemmProfile& fp32 = gemm_of(bench.gpu(), Precision::fp32);
  fp32.efficiency = 0.7;
  std::get<SmoothGemm>(fp32.form).half_n = 60;
  add_gemms(bench, Precision::fp32, 60);
  auto files = bench.files();
  for (int i = 0; i < 40; ++i) {
    PointRecord record{GemmPoint{Precision::bf16, Transpose::TN, 128 + i, 128, 128}, {}, ""};
    record.measured.timing = {1e-5, 1e-5, 1e-5, 1};
    files.front().content.records.push_back(record);
  }
  const Calibration made = calibrate(files, {.gpu = "mine", .base = "v100"}, shipped());
  GpuProfile mine = parse_gpu(made.gpu_text, "mine.yaml");
  CHECK(error_of(mine, bench, Precision::fp32) < kNoise);
  CHECK(family(made, "gemm bf16").remark == "40 points left out: v100 has no bf16");
}

TEST_CASE("GEMMs of gradients alone give no constants, and that is said") {
  Bench bench("h100");
  add_gemms(bench, Precision::bf16, 40, {.transpose = Transpose::NT, .accumulate = true});
  bench.add_memory(MemoryOp::copy, MemoryRate::elementwise);
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  CHECK(family(made, "gemm bf16").remark ==
        "as h100: 40 points, of no kind of plain product as many as 36");
  CHECK(family(made, "gemm fp16").remark == "as h100, not measured");
}

TEST_CASE("GEMMs of sustained runs alone give constants without that factor") {
  Bench bench = slow_bench();
  add_gemms(bench, Precision::bf16, 40, {.sustained = true}, 1.1);
  const Calibration made = calibrate(bench.files(), {.gpu = "mine"}, shipped());
  GpuProfile mine = parse_gpu(made.gpu_text, "mine.yaml");
  CHECK(gemm_of(mine, Precision::bf16).sustained == 1);
  CHECK(family(made, "gemm bf16, sustained").errors.mean < 2 * kNoise);
}
