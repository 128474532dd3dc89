// What `explain` says of a recording simulated again.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/report/recording/recording_report.hpp"
#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;

namespace {

struct Explained {
  explicit Explained(const SampleTrace& trace) {
    const Recording recording = recording_of(trace.document());
    const RecordedJob job = job_of({observe(recording, sample_kinds())});
    std::optional<Replay> replayed;
    if (const auto plan = replay_plan(recording, sample_kinds())) replayed = replay(*plan);
    page = to_table(job, {}, replayed);
    json = nlohmann::json::parse(to_json(job, replayed));
  }
  bool says(const std::string& text) const { return page.find(text) != std::string::npos; }
  std::string page;
  nlohmann::json json;
};

/// The loader takes 600 of 1000 us; then a kernel, launched at 650, that the host waits for.
SampleTrace loader_bound(int kernel_start = 660) {
  return SampleTrace()
      .annotation("ProfilerStep#1", "0", "1000")
      .annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "0", "600")
      .call("cudaLaunchKernel", "650", "5", 1)
      .kernel("volta_sgemm_64x64_nt", std::to_string(kernel_start),
              std::to_string(995 - kernel_start), 1)
      .call("cudaDeviceSynchronize", "670", "330", 0);
}

}  // namespace

TEST_CASE("JSON has the steps as they came out, and what each change would give") {
  const Explained explained(loader_bound(890));
  const auto& steps = explained.json["replay"]["steps"];
  REQUIRE(steps.size() == 1);
  CHECK(steps[0]["name"] == "ProfilerStep#1");
  CHECK(steps[0]["seconds"] == 1e-3);
  CHECK(steps[0]["replayed_s"] == 1e-3);
  CHECK(explained.json["replay"]["not_explained_s"].get<double>() > 0);
  const auto& changes = explained.json["what_if"];
  REQUIRE_FALSE(changes.empty());
  CHECK(changes[0]["name"] == "loader");
  CHECK(changes[0]["before_s"] == 1e-3);
  CHECK(changes[0]["step_time_s"] == 4e-4);
  CHECK(changes[0]["gain_s"] == 6e-4);
}

TEST_CASE("the page says what the verdict's change would give") {
  const Explained explained(loader_bound());
  CHECK(explained.says("What each change would give, a step of 1.000 ms"));
  CHECK(explained.says("Gain           where the loader keeps up, a step takes 400 us"));
}

TEST_CASE("gains are not said where too much is not explained") {
  const Explained explained(loader_bound(895));
  CHECK(explained.says("What a change would give is not said: for 24"));
  CHECK_FALSE(explained.says("Gain"));
}

TEST_CASE("a recording without steps has nothing to replay") {
  const Explained explained(SampleTrace()
                                .call("cudaLaunchKernel", "0", "5", 1)
                                .kernel("volta_sgemm_64x64_nt", "10", "20", 1));
  CHECK(explained.json["replay"].is_null());
  CHECK(explained.json["what_if"].empty());
  CHECK_FALSE(explained.says("What each change would give"));
}
