// `stepsim explain` of a recording: what it prints, and what it refuses.
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/command/explain.hpp"
#include "sim/report/recording/recording_report.hpp"
#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;

namespace {

std::string explained(ExplainOptions options) {
  std::ostringstream out, notes;
  CHECK(explain(options, out, notes) == ExitCode::ok);
  return out.str();
}

std::string refusal(const ExplainOptions& options) {
  std::ostringstream out, notes;
  try {
    explain(options, out, notes);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

std::string verdict(const SampleTrace& trace) {
  return verdict_of(job_of({observed(trace.document())})).sentence;
}

SampleTrace step_of_200() { return SampleTrace().annotation("ProfilerStep#1", "0", "200"); }

}  // namespace

TEST_CASE("JSON has the figures of the rank in seconds") {
  const TemporaryFolder folder;
  const auto json = nlohmann::json::parse(explained(
      {.scenario = {folder.file("t.json", sample_step().document()), {}}, .format = "json"}));
  CHECK(json["schema"] == "stepsim.recording/1");
  CHECK(json["not_known"].empty());
  REQUIRE(json["ranks"].size() == 1);
  const auto& rank = json["ranks"][0];
  CHECK(rank["rank"].is_null());
  CHECK(rank["window_s"] == 1e-4);
  CHECK(rank["busy_s"] == 4e-5);
  CHECK(rank["compute_s"] == 2e-5);
  CHECK(rank["communication_s"] == 3e-5);
  CHECK(rank["copies_s"] == 0);
  CHECK(rank["communication_and_compute_s"] == 1e-5);
  CHECK(rank["exposed_communication_s"] == 2e-5);
  CHECK(rank["idle_s"] == nlohmann::json({{"tiny", 0},
                                          {"queued", 0},
                                          {"late_host", 2e-5},
                                          {"launch_latency", 1e-5},
                                          {"tail", 3e-5},
                                          {"unmatched", 0}}));
  CHECK(rank["late_host_s"] ==
        nlohmann::json(
            {{"sync", 0}, {"loader", 1e-5}, {"runtime", 0}, {"operator", 8e-6}, {"python", 2e-6}}));
  REQUIRE(rank["steps"].size() == 1);
  CHECK(rank["steps"][0]["name"] == "ProfilerStep#3");
  CHECK(rank["steps"][0]["seconds"] == 1e-4);
  CHECK(rank["steps"][0]["exposed_communication_s"] == 2e-5);
  CHECK(json["verdict"]["sentence"].get<std::string>().starts_with("not known"));
}

TEST_CASE("the page has its parts, and the parts of the window sum to it") {
  const TemporaryFolder folder;
  const std::string page =
      explained({.scenario = {folder.file("t.json", sample_step().document()), {}}});
  for (const char* part :
       {"computing                                          20.0 us    20.0 %",
        "communication that nothing hides                   20.0 us    20.0 %",
        "idle                                               60.0 us    60.0 %",
        "all steps                                         100.0 us   100.0 %",
        "late launch: the loader                            10.0 us", "ProfilerStep#3",
        "communication                                      30.0 us", "Verdict        not known"})
    CHECK_MESSAGE(page.find(part) != std::string::npos, part, "\n", page);
}

TEST_CASE("the verdict names the largest part in which the GPU does not compute") {
  CHECK(verdict(step_of_200()
                    .annotation("enumerate(DataLoader)#x", "0", "100")
                    .call("cudaLaunchKernel", "100", "5", 1)
                    .kernel("sgemm", "106", "94", 1))
            .starts_with("data-bound: the GPU waits for the loader"));
  CHECK(verdict(step_of_200()
                    .call("cudaStreamSynchronize", "0", "100", 9)
                    .call("cudaLaunchKernel", "100", "5", 1)
                    .kernel("sgemm", "106", "94", 1))
            .starts_with("sync-bound"));
  CHECK(
      verdict(step_of_200().call("cudaLaunchKernel", "100", "5", 1).kernel("sgemm", "106", "94", 1))
          .starts_with("host-bound"));
  CHECK(verdict(step_of_200()
                    .operation("aten::mm", "0", "110")
                    .call("cudaLaunchKernel", "100", "5", 1)
                    .kernel("sgemm", "106", "94", 1))
            .starts_with("launch-bound"));
  CHECK(verdict(step_of_200().call("cudaLaunchKernel", "0", "5", 1).kernel("sgemm", "1", "199", 1))
            .starts_with("compute-bound: the GPU computes 99.5 %"));
  CHECK(verdict(step_of_200()
                    .call("cudaLaunchKernel", "0", "5", 1)
                    .kernel("ncclDevKernel", "1", "199", 1))
            .starts_with("communication-bound"));
  CHECK(verdict(step_of_200()).starts_with("nothing can be said"));
}

TEST_CASE("what does not go with a recording is refused with the reason") {
  const TemporaryFolder folder;
  const std::string file = folder.file("t.json", sample_step().document());
  CHECK(refusal({.scenario = {file, {"model=llama2-7b"}}}).find("--set changes a scenario") !=
        std::string::npos);
  const TemporaryFolder empty;
  CHECK(refusal({.scenario = {empty.path().string(), {}}}).find("no file of this folder") !=
        std::string::npos);
}
