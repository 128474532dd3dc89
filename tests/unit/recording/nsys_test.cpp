// Reading what Nsight Systems exports, with numbers worked out by hand.
#include <doctest/doctest.h>

#include "sim/recording/files/looks_like_recording.hpp"
#include "sim/recording/files/read_recordings.hpp"
#include "tests/unit/recording/sample_report.hpp"

using namespace stepsim;

namespace {

Observation observed(const SampleReport& report) {
  return observe(report.recording(), sample_kinds());
}

std::vector<std::string> names_of(const Recording& recording, HostWork work) {
  std::vector<std::string> names;
  for (const RecordedThread& thread : recording.threads) {
    for (const HostEvent& event : thread.events) {
      if (event.work == work) names.push_back(recording.name_of(event));
    }
  }
  return names;
}

}  // namespace

TEST_CASE("nsys: times of the GPU, of steps and of gaps") {
  const Observation seen = observed(sample_report());
  CHECK(seen.format == "Nsight Systems 2026.2.1");
  CHECK(seen.window == Interval{SampleReport::kZero, SampleReport::kZero + 190'000});
  CHECK(seen.gpu.busy == 86'000);           // 40 in each step, and 6 of the copy
  CHECK(seen.gpu.compute == 50'000);        // 25 in each
  CHECK(seen.gpu.communication == 60'000);  // 30 in each
  CHECK(seen.gpu.communication_and_compute == 30'000);
  CHECK(seen.gpu.copies == 6'000);
  REQUIRE(seen.steps.size() == 2);
  CHECK(seen.steps[0].name == "step_4");
  CHECK(seen.steps[0].gpu.busy == 40'000);
  CHECK(seen.steps[1].gpu.busy == 46'000);
  // 0-30: late until 20, 12-20 in the operator; 70-104: late until 101; 110-130: until 120, 112-120
  // in the operator; 170-190 is the tail.
  CHECK(seen.idle.causes.late_host == 61'000);
  CHECK(seen.idle.late_host.operation == 16'000);
  CHECK(seen.idle.late_host.python == 45'000);
  CHECK(seen.idle.causes.launch_latency == 23'000);
  CHECK(seen.idle.causes.tail == 20'000);
  CHECK(is_said(seen.not_known, "such as 'step_4' are taken for steps"));
  CHECK(is_said(seen.not_known, "emit_nvtx"));
}

TEST_CASE("nsys: names as torch.profiler has them") {
  const Recording recording = sample_report()
                                  .range("Optimizer.step#SGD.step, op_id = 3", 75, 80)
                                  .range("warm", 1, 2, 7, 1, true)
                                  .range("{''mod'': ''torch'', ''op'': ''randn''}", 2, 3)
                                  .recording();
  CHECK(names_of(recording, HostWork::runtime) ==
        std::vector<std::string>{"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync",
                                 "cudaLaunchKernel", "cudaLaunchKernelExC"});
  CHECK(names_of(recording, HostWork::operation) ==
        std::vector<std::string>{"aten::mm", "aten::mm"});
  CHECK(names_of(recording, HostWork::annotation) ==
        std::vector<std::string>{"step_4", "warm", "Optimizer.step#SGD.step", "step_5"});
  const auto copy = std::ranges::find(recording.activities, GpuWork::copy, &GpuActivity::work);
  REQUIRE(copy != recording.activities.end());
  CHECK(recording.name_of(*copy) == "Memcpy HtoD (Pinned -> Device)");
  CHECK(copy->bytes == 4096);
  CHECK(copy->stream == 14);
  CHECK(copy->launch.has_value());
  CHECK(recording.threads.front().process == "7");
  CHECK(recording.threads.front().thread == "1");
}

TEST_CASE("nsys: a recording for each GPU of a process, whose correlation ids repeat") {
  const std::vector<Recording> all = sample_report()
                                         .call("cudaLaunchKernel_v7000", 3, 5, 10, 8)
                                         .kernel("of 8", 6, 9, 10, 8, 1)
                                         .kernel("of 8, without a launch", 12, 14, 11, 8, 0)
                                         .recordings();
  REQUIRE(all.size() == 3);
  CHECK(all[0].format == "Nsight Systems 2026.2.1 (process 7, GPU 0)");
  CHECK(all[1].format == "Nsight Systems 2026.2.1 (process 8, GPU 0)");
  CHECK(all[2].format == "Nsight Systems 2026.2.1 (process 8, GPU 1)");
  CHECK(all[0].activities.size() == 5);
  CHECK_FALSE(all[1].activities.front().launch.has_value());
  REQUIRE(all[2].activities.front().launch.has_value());
  CHECK(all[2].at(*all[2].activities.front().launch).time.start == SampleReport::kZero + 3000);
}

TEST_CASE("nsys: the epoch, the GPU's name, and the rank in the file's name") {
  const SampleReport report =
      sample_report()
          .row("TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER)", "1700000000000000000")
          .row("TARGET_INFO_GPU (id INTEGER, name TEXT)", "0, 'NVIDIA A100'")
          .row("TARGET_INFO_GPU (id INTEGER, name TEXT)", "3, 'NVIDIA H100'")
          .row("TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER)", "3, 0, 7");
  const TemporaryFolder folder;
  const std::vector<Recording> all =
      read_recordings(report.save(folder.file("50% of #1? rank-3.sqlite")));
  REQUIRE(all.size() == 1);
  CHECK(all.front().device == "NVIDIA H100");
  CHECK(all.front().rank == 3);
  CHECK(all.front().threads.front().events.front().time.start ==
        1'700'000'000'000'000'000 + SampleReport::kZero);
  CHECK(folder.files() == 1);
}

TEST_CASE("nsys: exports of old versions, and made up ones, lack tables and columns") {
  SampleReport old("EXPORT_META_DATA");
  old.call("cudaLaunchKernel_v7000", 0, 5, 1)
      .kernel("volta_sgemm_64x64_nt", 10, 20, 1)
      .change("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid")
      .change("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN demangledName");
  const Recording recording = old.recording();
  CHECK(recording.format == "Nsight Systems 2026.2.1");
  REQUIRE(recording.activities.size() == 1);
  CHECK(recording.name_of(recording.activities.front()) == "short");
  CHECK(recording.activities.front().launch.has_value());
  CHECK(recording.device.empty());
  CHECK(recording.steps.empty());
}

TEST_CASE("nsys: graphs that were recorded as a whole are busy, and that is said") {
  const Observation seen = observed(
      SampleReport()
          .call("cudaGraphLaunch_v10000", 0, 5, 1)
          .row("CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, "
               "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER)",
               fmt::format("{}, {}, 0, 7, 1, {}, 109", SampleReport::kZero + 8'000,
                           SampleReport::kZero + 48'000, process_id(7))));
  CHECK(seen.gpu.busy == 40'000);
  CHECK(seen.gpu.compute == 40'000);
  CHECK(seen.kernels.front().name == "replay of CUDA graph 109");
  CHECK(is_said(seen.not_known, "1 replay of CUDA graphs was recorded without its kernels"));
  CHECK(is_said(seen.not_known, "--cuda-graph-trace=node"));
}

TEST_CASE("nsys: lost events and full buffers are said") {
  const char* const overhead =
      "CUPTI_ACTIVITY_KIND_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, overheadType "
      "INTEGER)";
  const Observation seen = observed(
      sample_report()
          .row("DIAGNOSTIC_EVENT (text TEXT)", "'Not all CUDA events might have been collected.'")
          .row("DIAGNOSTIC_EVENT (text TEXT)", "'Not all OpenGL events might have been collected.'")
          .row("DIAGNOSTIC_EVENT (text TEXT)", "'Process 7 was launched.'")
          .row(overhead, fmt::format("1000, 31000, {}, 8", thread_id(7, 1)))
          .row(overhead, fmt::format("21000, 41000, {}, 8", thread_id(7, 2)))
          .row(overhead, fmt::format("0, 90000, {}, 6", thread_id(7, 1)))
          .row(overhead, fmt::format("0, 90000, {}, 8", thread_id(8, 1))));
  CHECK(is_said(seen.not_known, "nsys says 'Not all CUDA events might have been collected.'"));
  CHECK_FALSE(is_said(seen.not_known, "OpenGL"));
  CHECK_FALSE(is_said(seen.not_known, "launched."));
  CHECK(is_said(seen.not_known, "The host waited 40.0 us because a buffer of commands was full"));
}

TEST_CASE("nsys: activities without a time are counted, ranges without an end left out") {
  const std::string open = fmt::format("{}, NULL, 59, 'step_6', {}, NULL",
                                       SampleReport::kZero + 200'000, thread_id(7, 1));
  const Recording recording =
      sample_report()
          .kernel("no time", 0, 0, 99)
          .change("INSERT INTO NVTX_EVENTS VALUES (" + open + ")")
          .change("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end) VALUES (5, NULL)")
          .change(
              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, globalPid) VALUES (9e18, "
              "-9e18, " +
              std::to_string(process_id(7)) + ")")
          .recording();
  CHECK(recording.activities.size() == 5);
  CHECK(recording.notes.untimed == 3);
  CHECK(recording.steps.size() == 2);
}

TEST_CASE("nsys: bytes that are no text") {
  const Recording recording =
      sample_report()
          .change(
              "UPDATE StringIds SET value = CAST(x'6bff0a6b' AS TEXT) WHERE value LIKE 'volta%'")
          .recording();
  CHECK(recording.name_of(recording.activities.front()) == "k? k");
}

TEST_CASE("nsys: calls alone are explained as far as they go") {
  const Observation seen = observed(SampleReport().call("cudaGetDeviceProperties_v12000", 0, 5, 1));
  CHECK(seen.activities == 0);
  CHECK(is_said(seen.not_known, "No work of a GPU was recorded"));
}

TEST_CASE("nsys: what is no export is refused by name") {
  const auto refused = [](const SampleReport& report, const std::string& part) {
    const std::string refusal = report.refusal();
    CAPTURE(refusal);
    CHECK(refusal.find(part) != std::string::npos);
    CHECK(refusal.find('\n') == std::string::npos);
  };
  refused(SampleReport(), "no CUDA and no NVTX in this: record with --trace=cuda,nvtx");
  refused(SampleReport().row("expert_systems_feedback (id INTEGER)", "1"), "DLProf");
  refused(SampleReport().row("rocpd_kernel_dispatch_1 (id INTEGER)", "1"), "rocpd");
  refused(SampleReport()
              .change("DROP TABLE StringIds")
              .change("DROP TABLE META_DATA_EXPORT")
              .change("CREATE TABLE users (id INTEGER)"),
          "another program: its tables are 'users'");
  refused(SampleReport().change("DROP TABLE StringIds").change("DROP TABLE META_DATA_EXPORT"),
          "without tables");
}

TEST_CASE("nsys: files that are cut, damaged or of nsys' own format") {
  const TemporaryFolder folder;
  const std::string path = sample_report().save(folder.file("whole.sqlite"));
  CHECK(looks_like_recording(path));
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const auto refusal = [&](const std::string& name, const std::string& text) -> std::string {
    try {
      read_recordings(folder.file(name, text));
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  };
  CHECK(refusal("cut.sqlite", whole.substr(0, whole.size() / 2)).find("damaged, cut") !=
        std::string::npos);
  CHECK(refusal("head.sqlite", whole.substr(0, 16)).find("damaged, cut") != std::string::npos);
  CHECK(refusal("r.nsys-rep", std::string("NVR\0\1", 5)).find("nsys export --type sqlite") !=
        std::string::npos);
  CHECK_THROWS_AS(read_nsys(folder.file("nowhere")), IoError);
}
