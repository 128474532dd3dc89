// Kernels outside the range that a profile's constants were measured at: which, and how much of a
// step they are.
#include "sim/cluster/measured_range.hpp"

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

GpuProfile measured_gpu() {
  GpuProfile gpu = paper_gpu();
  gpu.gemm[0].range = {.m = {{128, 32768}}, .n = {{512, 65536}}, .k = {{256, 65536}}};
  gpu.memory_kernels.range = {.bytes = {{1_MiB, 1_GiB}}};
  gpu.attention = {{.kernel = "flash2", .head_dim = 128}};
  gpu.attention[0].range = {.sequence = {{512, 16384}}};
  return gpu;
}

std::string side_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  return outside_range(Gemm{m, n, k, 1, false, Precision::fp16}, measured_gpu());
}

std::string side_of(std::int64_t sequence) {
  FusedAttention attention;
  attention.kernel = "flash2";
  attention.sequence = sequence;
  return outside_range(attention, measured_gpu());
}

}  // namespace

TEST_CASE("a GEMM is outside where one of its sizes is, both ends belong to the range") {
  CHECK(side_of(128, 512, 256).empty());
  CHECK(side_of(32768, 65536, 65536).empty());
  CHECK(side_of(4096, 4096, 128) == "GEMM k < 256");
  CHECK(side_of(4096, 4096, 131072) == "GEMM k > 65536");
  CHECK(side_of(64, 4096, 4096) == "GEMM m < 128");
  CHECK(side_of(40000, 40000, 4096) == "GEMM m > 32768");
}

TEST_CASE("rows and columns of a GEMM may change places") {
  CHECK(side_of(65536, 512, 4096).empty());
  CHECK(side_of(65536, 128, 4096).empty());
  CHECK(side_of(65536, 64, 4096) == "GEMM m > 32768");
}

TEST_CASE("attention goes by its keys, other kernels by their bytes") {
  CHECK(side_of(16384).empty());
  CHECK(side_of(32768) == "attention sequence > 16384");
  CHECK(outside_range(MemoryBound{1_MiB}, measured_gpu()).empty());
  CHECK(outside_range(MemoryBound{64_KiB}, measured_gpu()) == "memory-bound kernel < 1 MiB");
  CHECK(outside_range(MemoryBound{8_GiB}, measured_gpu()) == "memory-bound kernel > 1 GiB");
}

TEST_CASE("a profile that says nothing of its measurements has no outside") {
  CHECK(outside_range(Gemm{1, 1, 1, 1, false, Precision::fp16}, paper_gpu()).empty());
  CHECK(outside_range(MemoryBound{Bytes{1}}, paper_gpu()).empty());
}

TEST_CASE("a report says which share of the step was never measured") {
  // Kernels take bytes / 1 TB/s: 30 ms forward and 10 ms backward in each of two layers, of which
  // 10 GB and less are in the range.
  Scenario scenario = on_paper(R"(
model: {name: m, kind: mlp, layers: 1, width: 1}
cluster: {name: c, gpu: a100-80}
training: {global_batch: 1, precision: fp16, gradient_clipping: false}
)");
  scenario.host.launch = Seconds{0};
  scenario.cluster.gpu.memory_kernels.range = {.bytes = {{Bytes{0}, 10_GB}}};
  const Experiment experiment(std::move(scenario), paper_graph(paper_layer(30_ms, 10_ms), 2));
  // A trace has each kernel by itself, and says the same.
  for (const bool kernels : {false, true}) {
    const Metrics metrics = experiment.metrics({.kernels = kernels});
    REQUIRE(metrics.outside_range.size() == 1);
    CHECK(metrics.outside_range[0].side == "memory-bound kernel > 9.313 GiB");
    CHECK(metrics.outside_range[0].time.seconds() == nine_digits(60e-3));
    CHECK(metrics.step_time.seconds() == nine_digits(80e-3));
  }
}
