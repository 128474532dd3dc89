// Recordings simulated again: closed forms of steps as they were and as they would be.
#include "sim/replay/replay.hpp"

#include <doctest/doctest.h>

#include "sim/recording/core_device.hpp"
#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;

namespace {

constexpr double us = 1e-6;

Replay replayed(const SampleTrace& trace) {
  const auto plan = replay_plan(recording_of(trace.document()), sample_kinds());
  REQUIRE(plan);
  return replay(*plan);
}

double step_with(const Replay& replay, const std::string& name) {
  for (const ReplayedChange& change : replay.changes) {
    if (change.name == name) return change.after_s;
  }
  FAIL("no such change: ", name);
  return 0;
}

void check_unchanged(const Replay& replay, const std::vector<double>& steps) {
  REQUIRE(replay.steps.size() == steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CHECK(replay.steps[i].seconds == doctest::Approx(steps[i]));
    CHECK(replay.steps[i].replayed_s == doctest::Approx(steps[i]));
  }
  CHECK(replay.worst_deviation() == doctest::Approx(0));
}

std::string text(int number) { return std::to_string(number); }

/// Ten kernels of 20 us, each 10 us behind its launch; a launch every 100 us.
void add_launch_bound_step(SampleTrace& trace, int start) {
  trace.annotation("ProfilerStep#" + text(start / 1000), text(start), "1000");
  for (int i = 0; i < 10; ++i) {
    const int launch = start + 100 * i, id = start + i + 1;
    trace.operation("aten::add", text(launch), "50")
        .call("cudaLaunchKernel", text(launch), "5", id)
        .kernel("vectorized_elementwise_kernel", text(launch + 10), "20", id);
  }
}

/// A kernel of 500 us whose result .item() waits for, and one of 300 us that is launched behind it.
void add_item_step(SampleTrace& trace, int start) {
  const int id = start + 1;
  const auto at = [&](int moment) { return text(start + moment); };
  trace.annotation("ProfilerStep#" + text(start / 1000), at(0), "1000")
      .call("cudaLaunchKernel", at(10), "5", id)
      .kernel("volta_sgemm_64x64_nt", at(20), "500", id)
      .operation("aten::item", at(25), "510")
      .operation("aten::_local_scalar_dense", at(26), "508")
      .call("cudaMemcpyAsync", at(30), "5", id + 1)
      .gpu("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", at(520), "2", id + 1, "7")
      .call("cudaStreamSynchronize", at(40), "490", 0)
      .call("cudaLaunchKernel", at(600), "5", id + 2)
      .kernel("volta_sgemm_64x64_nt", at(610), "300", id + 2);
}

/// K1 100 us; an all-reduce of 200 us that waits for it; beside that K2, 60 us; behind it K3, 100
/// us.
SampleTrace overlapped_step() {
  return SampleTrace()
      .annotation("ProfilerStep#1", "0", "410")
      .call("cudaLaunchKernel", "0", "4", 1)
      .kernel("volta_sgemm_64x64_nt", "5", "100", 1)
      .call("cudaStreamWaitEvent", "6", "1", 0)
      .call("cudaLaunchKernel", "10", "4", 2)
      .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "105", "200", 2, "9")
      .call("cudaLaunchKernel", "20", "4", 3)
      .kernel("volta_sgemm_64x64_nt", "105", "60", 3)
      .call("cudaStreamWaitEvent", "26", "1", 0)
      .call("cudaLaunchKernel", "30", "4", 4)
      .kernel("multi_tensor_apply_kernel", "305", "100", 4)
      .call("cudaDeviceSynchronize", "40", "365", 0);
}

}  // namespace

TEST_CASE("a launch-bound step is as long as its kernels where launches take no time") {
  SampleTrace trace;
  add_launch_bound_step(trace, 0);
  add_launch_bound_step(trace, 1000);
  const Replay replay = replayed(trace);
  check_unchanged(replay, {1000 * us, 1000 * us});
  CHECK(replay.not_explained_s == 0);
  CHECK(replay.changes.front().name == "launches");
  CHECK(replay.changes.front().before_s == doctest::Approx(1000 * us));
  CHECK(replay.changes.front().after_s == doctest::Approx(200 * us));
}

TEST_CASE("a step without the wait of .item() is the longer of host and GPU") {
  SampleTrace trace;
  add_item_step(trace, 0);
  add_item_step(trace, 1000);
  const Replay replay = replayed(trace);
  check_unchanged(replay, {1000 * us, 1000 * us});
  // The host waits from 40 to 522, and takes 518; the GPU 500 + 2 + 300.
  CHECK(step_with(replay, "wait in aten::item") == doctest::Approx(802 * us));
  // With the wait, and no other time of the host, the second kernel starts behind the copy, too.
  CHECK(step_with(replay, "launches") == doctest::Approx(802 * us));
}

TEST_CASE("communication that takes half its time shows what it had hidden") {
  const Replay replay = replayed(overlapped_step());
  check_unchanged(replay, {410 * us});
  CHECK(replay.not_explained_s == 0);
  CHECK(step_with(replay, "network x 2") == doctest::Approx(310 * us));
  CHECK(step_with(replay, "network") == doctest::Approx(270 * us));  // K3 starts behind K2
}

TEST_CASE("what a second thread launches follows the thread that it waits for") {
  // The loader until 300; forward; backward in a thread of its own from 450 to 650; the optimizer.
  SampleTrace trace;
  trace.annotation("ProfilerStep#1", "0", "1000")
      .annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "0", "300")
      .operation("aten::mm", "300", "100")
      .call("cudaLaunchKernel", "350", "5", 1)
      .kernel("volta_sgemm_64x64_nt", "360", "20", 1)
      .host("cpu_op", "MmBackward0", "450", "200", 0, 2)
      .call("cudaLaunchKernel", "500", "5", 2, 2)
      .kernel("volta_sgemm_64x64_nt", "510", "20", 2)
      .operation("aten::add_", "700", "300")
      .call("cudaLaunchKernel", "900", "5", 3)
      .kernel("multi_tensor_apply_kernel", "910", "20", 3)
      .call("cudaDeviceSynchronize", "915", "20", 0);
  const Replay replay = replayed(trace);
  check_unchanged(replay, {1000 * us});
  CHECK(step_with(replay, "loader") == doctest::Approx(700 * us));
  CHECK(step_with(replay, "launches") == doctest::Approx(360 * us));
}

TEST_CASE("a lag that nothing explains stays, and is counted") {
  SampleTrace trace;
  trace.annotation("ProfilerStep#1", "0", "1000")
      .call("cudaLaunchKernel", "10", "5", 1)
      .kernel("volta_sgemm_64x64_nt", "20", "100", 1)
      .call("cudaLaunchKernel", "30", "5", 2)
      .kernel("volta_sgemm_64x64_nt", "520", "100", 2)
      .call("cudaDeviceSynchronize", "40", "580", 0);
  const Replay replay = replayed(trace);
  check_unchanged(replay, {1000 * us});
  CHECK(replay.not_explained_s == doctest::Approx(400 * us));
  CHECK(step_with(replay, "launches") == doctest::Approx(600 * us));
}

TEST_CASE("a copy of pageable memory keeps the thread that called it") {
  SampleTrace trace;
  trace.annotation("ProfilerStep#1", "0", "1000")
      .operation("aten::to", "0", "410")
      .call("cudaMemcpyAsync", "0", "400", 1)
      .gpu("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "100", "300", 1, "7")
      .call("cudaLaunchKernel", "500", "5", 2)
      .kernel("volta_sgemm_64x64_nt", "510", "100", 2)
      .call("cudaDeviceSynchronize", "520", "90", 0);
  const Replay replay = replayed(trace);
  check_unchanged(replay, {1000 * us});
  CHECK(step_with(replay, "input") == doctest::Approx(700 * us));
  // The kernel still comes behind the copy, and 390 us of the host behind the kernel.
  CHECK(step_with(replay, "wait in aten::to") == doctest::Approx(890 * us));
}

TEST_CASE("of a run on CPUs operators are the work, and the thread waits for collectives") {
  // Loader 300; work until 600, from where an all-reduce runs until 800; work from 810 on.
  const Recording recording = with_core_as_device(recording_of(
      SampleTrace()
          .annotation("ProfilerStep#1", "0", "1000")
          .annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "0", "300")
          .operation("aten::mm", "310", "250")
          .operation("c10d::allreduce_", "570", "20")
          .host("user_annotation", "gloo:all_reduce", "600", "200", 0, 3)
          .operation("aten::add_", "810", "190")
          .document()));
  REQUIRE(recording.is_of_core);
  const auto plan = replay_plan(recording, sample_kinds());
  REQUIRE(plan);
  const Replay result = replay(*plan);
  check_unchanged(result, {1000 * us});
  CHECK(step_with(result, "loader") == doctest::Approx(700 * us));
  CHECK(step_with(result, "network x 2") == doctest::Approx(900 * us));
  for (const ReplayedChange& change : result.changes) CHECK(change.name != "launches");
}

TEST_CASE("a core does without its reads, collections and loader") {
  const Recording recording = with_core_as_device(
      recording_of(SampleTrace()
                       .annotation("ProfilerStep#1", "0", "1000")
                       .annotation("enumerate(DataLoader)#x", "0", "100")
                       .operation("aten::mm", "100", "300")
                       .operation("aten::item", "400", "200")
                       .operation("aten::mm", "600", "100")
                       .annotation("garbage collection of generation 2", "700", "250")
                       .operation("aten::add_", "950", "50")
                       .document()));
  const auto plan = replay_plan(recording, sample_kinds());
  REQUIRE(plan);
  const Replay result = replay(*plan);
  check_unchanged(result, {1000 * us});
  CHECK(step_with(result, "loader") == doctest::Approx(900 * us));
  CHECK(step_with(result, "reads") == doctest::Approx(800 * us));
  CHECK(step_with(result, "garbage_collection") == doctest::Approx(750 * us));
}

TEST_CASE("a launch that found its queue full waits for room") {
  // 1,050 kernels of 10 us, a launch each us; the last launch waits until the 899th has ended.
  const std::string name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  SampleTrace trace;
  trace.annotation("ProfilerStep#1", "0", "10600");
  for (int i = 0; i < 1049; ++i)
    trace.call("cudaLaunchKernel", text(i), "1", i + 1)
        .kernel(name, text(10 + 10 * i), "10", i + 1);
  trace.call("cudaLaunchKernel", "1049", "7951", 1050)
      .kernel(name, "10500", "10", 1050)
      .call("cudaDeviceSynchronize", "9010", "1510", 0);
  const Replay replay = replayed(trace);
  check_unchanged(replay, {10600 * us});
  // The last kernel ends at 10 + 1050 x 5, which the host waits for; then come 90 us of its own.
  CHECK(step_with(replay, "network x 2") == doctest::Approx(5350 * us));
}

TEST_CASE("what has no whole step is not replayed") {
  const auto plan_of = [](const SampleTrace& trace) {
    return replay_plan(recording_of(trace.document()), sample_kinds());
  };
  CHECK_FALSE(plan_of(SampleTrace()
                          .call("cudaLaunchKernel", "0", "5", 1)
                          .kernel("volta_sgemm_64x64_nt", "10", "20", 1)));
  CHECK_FALSE(plan_of(SampleTrace()
                          .annotation("ProfilerStep#1", "100", "50")
                          .call("cudaLaunchKernel", "0", "5", 1)
                          .kernel("volta_sgemm_64x64_nt", "10", "20", 1)));
  CHECK_FALSE(plan_of(SampleTrace()
                          .annotation("ProfilerStep#1", "0", "100")
                          .annotation("ProfilerStep#2", "50", "100")
                          .call("cudaLaunchKernel", "60", "5", 1)
                          .kernel("volta_sgemm_64x64_nt", "70", "20", 1)));
}
