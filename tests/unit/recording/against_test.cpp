// A prediction beside a recording: the parts of the difference sum to it.
#include <cmath>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/command/compare.hpp"
#include "sim/report/recording/kernel_family.hpp"
#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;

namespace {

/// 4 ms of a product, 1 ms of attention, 2 ms of an all-reduce that nothing hides, 3 ms of loader.
std::string recorded_step() {
  return SampleTrace()
      .annotation("ProfilerStep#4", "0", "10000")
      .annotation("enumerate(DataLoader)#x", "0", "3000")
      .operation("aten::linear", "3000", "20")
      .call("cudaLaunchKernel", "3000", "5", 1)
      .call("cudaLaunchKernel", "3006", "5", 2)
      .call("cudaLaunchKernel", "3012", "5", 3)
      .kernel("nvjet_tst_256x128", "3000", "4000", 1)
      .kernel("flash_fwd_kernel", "7000", "1000", 2)
      .kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "8000", "2000", 3, "9")
      .document();
}

nlohmann::json compared(const TemporaryFolder& folder) {
  std::ostringstream out, notes;
  const std::string scenario = std::string(source_folder()) + "/scenarios/gpt-22b-8xa100.yaml";
  CHECK(compare({.files = {scenario, folder.file("rank0.json", recorded_step())}, .format = "json"},
                out, notes) == ExitCode::ok);
  return nlohmann::json::parse(out.str());
}

std::string refusal(CompareOptions options) {
  std::ostringstream out;
  try {
    compare(options, out, out);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("the list of differences sums to the difference of the steps") {
  const TemporaryFolder folder;
  const nlohmann::json json = compared(folder);
  CHECK(json["schema"] == "stepsim.recorded_comparison/1");
  CHECK(json["recorded"]["step_time_s"] == 0.01);
  double sum = 0, least = 1e9;
  for (const auto& one : json["differences"]) {
    const double difference = one["difference_s"];
    sum += difference;
    CHECK(std::abs(difference) <= least);
    least = std::abs(difference);
  }
  CHECK(sum == doctest::Approx(json["difference_s"].get<double>()).epsilon(1e-9));
}

TEST_CASE("recorded kernels are told apart by family, and idle time by cause") {
  const TemporaryFolder folder;
  const nlohmann::json recorded = compared(folder)["recorded"];
  CHECK(recorded["kernels"]["gemm"]["seconds"] == 0.004);
  CHECK(recorded["kernels"]["attention"]["seconds"] == 0.001);
  CHECK(recorded["launches"] == 2);
  CHECK(recorded["breakdown_s"]["batch_wait"] == 0.003);
  CHECK(recorded["breakdown_s"]["exposed_data"] == 0.002);
  CHECK(recorded["breakdown_s"]["forward"] == 0.005);
}

TEST_CASE("predicted families are those of the plan's kernels, and sum to its work") {
  const TemporaryFolder folder;
  const nlohmann::json predicted = compared(folder)["predicted"];
  double families = 0, work = 0;
  for (const auto& [name, family] : predicted["kernels"].items())
    families += family["seconds"].get<double>();
  for (const char* cause : {"forward", "recompute", "backward", "optimizer"})
    work += predicted["breakdown_s"][cause].get<double>();
  CHECK(families == doctest::Approx(work).epsilon(0.001));
  CHECK(predicted["kernels"]["gemm"]["seconds"].get<double>() > 0.5 * work);
}

TEST_CASE("what is no scenario and one recording is refused") {
  const TemporaryFolder folder;
  const std::string trace = folder.file("rank0.json", recorded_step());
  const std::string scenario = std::string(source_folder()) + "/scenarios/gpt-22b-8xa100.yaml";
  CHECK(refusal({.files = {trace}}).find("is compared with one scenario") != std::string::npos);
  CHECK(refusal({.files = {trace, folder.file("rank1.json", recorded_step())}})
            .find("are both recordings") != std::string::npos);
  CHECK(refusal({.files = {scenario, trace}, .format = "csv"}).find("table or json") !=
        std::string::npos);
}
