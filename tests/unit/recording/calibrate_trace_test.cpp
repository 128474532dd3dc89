// `stepsim calibrate trace`: a prediction with what it writes takes what was recorded.
#include <array>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "sim/calibrate/profile/recorded_rates.hpp"
#include "sim/cluster/kernel_time.hpp"
#include "sim/command/answer/answer.hpp"
#include "sim/command/calibrate.hpp"
#include "sim/core/source.hpp"
#include "sim/core/system/files_read.hpp"
#include "sim/plan/load.hpp"
#include "sim/report/recording/against.hpp"
#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;
using namespace stepsim::literals;

namespace {

constexpr const char* kScenario = R"(
model: {layers: 2, hidden: 768, heads: 12, vocabulary: 50304}
cluster: {base: dgx-h100, gpus_per_node: 2}
training: {sequence_length: 256, attention: unfused, fusion: none, micro_batch: 2, global_batch: 4}
parallelism: {data: {sharding: ddp, bucket: 1 GB}}
host: {launch: 3 us}
)";

const Library& library() {
  static const Library it{{source_folder()}};
  return it;
}

Scenario scenario(const std::vector<Override>& changes = {}) {
  return parse_scenario(kScenario, "s.yaml", library(), changes, known_names());
}

StepAccount predicted(const Scenario& scenario) {
  std::ostringstream notes;
  const Answer answer = answer_of(scenario, library(), {.kernels = true}, notes);
  return predicted_account(answer.metrics, build(scenario), answer.simulation);
}

double seconds(const StepAccount& account, KernelFamily family) {
  return account.families[static_cast<std::size_t>(family)].seconds;
}

constexpr std::array kFamiliesThere{KernelFamily::gemm,      KernelFamily::norm,
                                    KernelFamily::softmax,   KernelFamily::loss,
                                    KernelFamily::optimizer, KernelFamily::other};

/// A step with a kernel of each family that takes so many times what is predicted, and a sum over
/// two ranks that takes 2 ms on the rank that comes last and `waits` ms more on this one.
SampleTrace recorded(const StepAccount& account, double times, int waits) {
  const std::array names{"sgemm",           "layer_norm_kernel", "softmax_warp_forward",
                         "nll_loss_kernel", "FusedAdam",         "elementwise_kernel"};
  SampleTrace trace;
  double at = 1000;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double taken = 1e6 * times * seconds(account, kFamiliesThere[i]);
    const int id = static_cast<int>(i) + 1;
    trace.call("cudaLaunchKernel", fmt::format("{:.3f}", at), "5", id)
        .kernel(names[i], fmt::format("{:.3f}", at + 500), fmt::format("{:.3f}", taken), id);
    at += taken + 1000;
  }
  trace.call("cudaLaunchKernel", fmt::format("{:.3f}", at), "5", 90)
      .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL",
              fmt::format("{:.3f}", at + 10 + 1000.0 * (3 - waits)),
              fmt::format("{}", 2000 + 1000 * waits), 90, "9");
  return trace.annotation("ProfilerStep#3", "1000", fmt::format("{:.3f}", at + 7000 - 1000));
}

/// Writes recordings of two ranks and the scenario, calibrates, and reads what is written.
struct Calibrated {
  TemporaryFolder folder;
  std::string page;
  GpuProfile gpu;
  LinkProfile link;

  CalibrateTraceOptions options() const {
    return {.recording = folder.file("traces"),
            .scenario = {folder.file("s.yaml"), {}},
            .output = folder.file("mine"),
            .name = "mine"};
  }

  explicit Calibrated(const StepAccount& account) {
    folder.file("s.yaml", kScenario);
    for (const int rank : {0, 1}) {
      const std::string head =
          fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 2}},)", rank);
      folder.file(fmt::format("traces/rank{}.json", rank),
                  recorded(account, 1.5, rank).document(head));
    }
    std::ostringstream out, notes;
    CHECK(calibrate_trace(options(), out, notes) == ExitCode::ok);
    page = out.str();
    gpu = parse_gpu(read_source(folder.file("mine/calib/gpus/mine.yaml"))->text, "mine.yaml");
    link = parse_link(read_source(folder.file("mine/calib/links/mine.yaml"))->text, "mine.yaml");
  }
};

const Calibrated& calibrated() {
  static const Calibrated it(predicted(scenario()));
  return it;
}

std::string refusal(const CalibrateTraceOptions& options) {
  std::ostringstream out, notes;
  forget_reads();  // each is a program of its own
  try {
    calibrate_trace(options, out, notes);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("kernels that take half as long again are predicted to take it") {
  const Scenario before = scenario();
  Scenario after = before;
  after.cluster.gpu = calibrated().gpu;
  const StepAccount was = predicted(before), is = predicted(after);
  for (const KernelFamily family : kFamiliesThere) {
    CAPTURE(title_of(family));
    CHECK(seconds(is, family) == doctest::Approx(1.5 * seconds(was, family)).epsilon(0.01));
  }
}

TEST_CASE("another micro-batch count follows") {
  const std::vector<Override> twice{{"training.global_batch", "8"}};
  const Scenario before = scenario(twice);
  Scenario after = before;
  after.cluster.gpu = calibrated().gpu;
  const StepAccount was = predicted(before), is = predicted(after);
  for (const KernelFamily family : kFamiliesThere) {
    CAPTURE(title_of(family));
    CHECK(seconds(is, family) == doctest::Approx(1.5 * seconds(was, family)).epsilon(0.01));
  }
}

TEST_CASE("what is not seen keeps its value, and each constant has its source") {
  const GpuProfile before = load_gpu("h100", library());
  const GpuProfile& after = calibrated().gpu;
  CHECK(after.attention == before.attention);
  CHECK(after.memory_bandwidth == before.memory_bandwidth);
  CHECK(after.memory_kernels.latency == before.memory_kernels.latency);
  for (std::size_t i = 0; i < before.gemm.size(); ++i) {
    CAPTURE(i);
    CHECK(after.gemm[i].peak == before.gemm[i].peak);
    CHECK((after.gemm[i].sustained == before.gemm[i].sustained) ==
          (before.gemm[i].precision != Precision::bf16));
  }
  const std::string text = read_source(calibrated().folder.file("mine/calib/gpus/mine.yaml"))->text;
  for (const char* part :
       {"recorded-matrix-products: \"recorded in traces (a GPU, 1 step): time x 1.5\"",
        "peak: {value: 989.4 TFLOP/s, source: datasheet}", "Written by stepsim calibrate trace"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
}

TEST_CASE("collectives take as long as their shortest kernel, and the host its time for launches") {
  const LinkProfile before = load_link("nvlink4", library());
  const LinkProfile& after = calibrated().link;
  REQUIRE(!after.all_reduce.empty());
  const double factor = after.all_reduce[0].latency / before.all_reduce[0].latency;
  CHECK(before.all_reduce[0].bandwidth / after.all_reduce[0].bandwidth ==
        doctest::Approx(factor).epsilon(0.001));
  CHECK(after.all_gather == before.all_gather);
  CHECK(calibrated().page.find("2.000 ms") != std::string::npos);
  CHECK(calibrated().page.find("--set cluster.gpu=mine --set cluster.intra_node=mine --set "
                               "host.pace=launches --set host.launch=") != std::string::npos);
}

TEST_CASE("what passes between a core's operators is a part of each call") {
  GpuDraft draft;
  draft.profile.gemm = {{.precision = Precision::fp32,
                         .peak = FlopsPerSecond{1e11},
                         .overhead = 1_us,
                         .form = SmoothGemm{}}};
  draft.profile.memory_bandwidth = BytesPerSecond{2e10};
  MemoryProfile& memory = draft.profile.memory_kernels;
  memory.latency = 1_us;
  memory.elementwise = memory.dropout = memory.permute = BytesPerSecond{1e10};
  const Gemm gemm{.m = 128, .n = 128, .k = 128, .precision = Precision::fp32};
  const MemoryBound sum{Bytes{1e6}, MemoryRate::elementwise};
  const auto taken = [&](const Work& work) { return kernel_time(work, draft.profile).seconds(); };
  const double product_s = taken(gemm), sum_s = taken(sum);
  const auto scaled =
      scale_to_recorded({{"products", RateGroup::gemm, {{gemm, product_s, 10}}, 20 * product_s},
                         {"sums", RateGroup::elementwise, {{sum, sum_s, 30}}, 60 * sum_s}},
                        40 * 5e-6, "t.json", draft);
  REQUIRE(scaled.size() == 2);
  CHECK(scaled[0].factor == doctest::Approx(2).epsilon(0.001));
  CHECK(taken(gemm) == doctest::Approx(2 * product_s + 5e-6).epsilon(0.001));
  CHECK(taken(sum) == doctest::Approx(2 * sum_s + 5e-6).epsilon(0.001));
}

TEST_CASE("families of one side, and small ones, stay as they are") {
  GpuDraft draft;
  draft.profile.memory_kernels.elementwise = BytesPerSecond{1e10};
  draft.profile.memory_bandwidth = BytesPerSecond{2e10};
  const MemoryBound sum{Bytes{1e9}, MemoryRate::elementwise}, norm{Bytes{1e5}, MemoryRate::norm};
  const auto scaled = scale_to_recorded(
      {{"sums", RateGroup::elementwise, {{sum, 0.1, 1}}, 0.1},
       {"norms", RateGroup::norm, {{norm, 1e-5, 1}}, 1e-4},
       {"convolutions", RateGroup::convolution, {}, 0.1},
       {"losses", RateGroup::loss, {{MemoryBound{Bytes{1e9}, MemoryRate::loss}, 0.1, 1}}, 0}},
      0, "t.json", draft);
  const auto reason = [&](const std::string& title) {
    for (const ScaledGroup& group : scaled)
      if (group.title == title) return group.reason;
    return std::string("?");
  };
  CHECK(reason("sums").empty());
  CHECK(reason("norms") == "less than a hundredth of the step");
  CHECK(reason("convolutions") == "the prediction has no such kernels");
  CHECK(reason("losses") == "the recording has no such kernels");
}

TEST_CASE("a factor that no device has scales nothing") {
  GpuDraft draft;
  draft.profile.sms = 100;
  draft.profile.memory_bandwidth = BytesPerSecond{2e10};
  draft.profile.memory_kernels.elementwise = BytesPerSecond{1e10};
  draft.profile.memory_kernels.norm = BytesPerSecond{1e10};
  const auto scaled = [&](double recorded_s) {
    GpuDraft copy = draft;
    const MemoryBound sum{Bytes{1e9}, MemoryRate::elementwise};
    return scale_to_recorded({{"sums", RateGroup::elementwise, {{sum, 0.1, 1}}, recorded_s}}, 0,
                             "t.json", copy)
        .front();
  };
  CHECK(scaled(0.5).factor == doctest::Approx(5));
  CHECK(scaled(0.06).factor == doctest::Approx(0.6));
  CHECK(scaled(1.1).factor == 0);
  CHECK(scaled(1.1).reason == "x 11: other work was recorded under this name than is predicted");
  CHECK(scaled(0.03).factor == 0);
  CHECK(scaled(0.03).reason.find("is faster than the memory") != std::string::npos);
}

TEST_CASE("wrong inputs are refused, and nothing that somebody has changed is replaced") {
  const Calibrated again(predicted(scenario()));
  CalibrateTraceOptions options = again.options();
  options.scenario.path = again.folder.file("traces/rank0.json");
  CHECK(refusal(options).find("this is a recording; name the scenario of its run") !=
        std::string::npos);
  options = again.options();
  options.recording = again.folder.file("s.yaml");
  CHECK(refusal(options).find("this is no recording") != std::string::npos);
  CHECK(refusal(again.options()).empty());
  std::ofstream(again.folder.file("mine/calib/gpus/mine.yaml"), std::ios::app) << "# mine\n";
  CHECK(refusal(again.options()).find("not as stepsim calibrate trace wrote it") !=
        std::string::npos);
}
