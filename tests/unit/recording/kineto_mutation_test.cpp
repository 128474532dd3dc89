// Damaged recordings: whatever happens to a file, it is answered or refused.
#include <numeric>
#include <optional>
#include <random>

#include <doctest/doctest.h>

#include "sim/report/recording/recording_report.hpp"
#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;

namespace {

constexpr int kFiles = 4000;

/// Bytes, and pieces of text that matter to a reader.
std::string damaged(std::string text, std::mt19937& random) {
  constexpr const char* kPieces[] = {"\"",
                                     "\\",
                                     "{",
                                     "}",
                                     "[",
                                     "]",
                                     ",",
                                     "-",
                                     "1e99",
                                     "null",
                                     "\"ph\"",
                                     "\xff\xfe",
                                     "99999999999999999999",
                                     "{\"a\":",
                                     "0"};
  for (unsigned times = 1 + random() % 4; times > 0 && !text.empty(); --times) {
    const std::size_t at = random() % text.size();
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 40);
        break;
      case 2:
        text.insert(at, kPieces[random() % std::size(kPieces)]);
        break;
      case 3:
        text.resize(at);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 200));
    }
  }
  return text;
}

std::string whole(bool is_old) {
  const KinetoWords old{"Operator", "Runtime", "Operator", "Kernel", "Memcpy", "\"stream 7\""};
  return sample_step(is_old ? old : KinetoWords{})
      .call("cudaGraphLaunch", "1060", "4", 13)
      .kernel("flash_fwd_kernel", "1072.125", "5.5", 13)
      .kernel("vectorized_elementwise_kernel", "1080.5", "5.5", 13)
      .copy("1090", "2", 14)
      .add(
          R"({"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":100,"tid":1,"ts":1014,"dur":9,"args":{"Input Dims":[[64],[128,32],[32,64]],"Input type":["c10::Half"]}})")
      .add(
          R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":100,"tid":1,"ts":1015,"args":{"Device Type":1,"Total Allocated":4096,"Total Reserved":8192}})")
      .document(R"("deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3",
                                         "totalGlobalMem": 85018279936}],)",
                R"(, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
                     "baseTimeNanoseconds": 1735632360000000000)");
}

}  // namespace

TEST_CASE("damaged recordings are answered or refused") {
  const GpuProfile gpu = load_gpu("h100", Library{{source_folder()}});
  std::mt19937 random(2026);
  int answered = 0;
  for (int i = 0; i < kFiles; ++i) {
    std::string text = damaged(whole(i % 2 == 0), random);
    if (i % 8 == 7) text = damaged(packed(whole(true)), random);
    CAPTURE(i);
    CAPTURE(text);
    try {
      const Recording recording = recording_of(text);
      const RecordedJob job = job_of({observe(recording, sample_kinds(), &gpu)});
      std::optional<Replay> replayed;
      if (const auto plan = replay_plan(recording, sample_kinds(), &gpu)) replayed = replay(*plan);
      CHECK_FALSE(to_table(job, {}, replayed).empty());
      CHECK(to_json(job, replayed).front() == '{');
      const Observation& seen = job.ranks.front();
      const Breakdown& breakdown = seen.breakdown;
      CHECK(std::accumulate(breakdown.causes.begin(), breakdown.causes.end(),
                            breakdown.not_known) == seen.window.length());
      const IdleCauses& idle = seen.idle.causes;
      CHECK(idle.tiny + idle.queued + idle.late_host + idle.launch_latency + idle.tail +
                idle.unmatched ==
            seen.idle_length());
      ++answered;
    } catch (const UserError& error) {
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
  CHECK(answered > kFiles / 4);
  CHECK(answered < kFiles);
}
