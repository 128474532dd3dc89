// Idle time of recordings whose causes are planted: closed forms.
#include <doctest/doctest.h>

#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;

namespace {

/// Whole microseconds.
constexpr Nanoseconds us(Nanoseconds count) { return 1000 * count; }

SampleTrace step_of_200() { return SampleTrace().annotation("ProfilerStep#1", "0", "200"); }

}  // namespace

TEST_CASE("the parts of a window: compute, communication, what both share, idle") {
  // 30..50 compute, 40..70 communication, of a window of 100 us.
  const Observation seen = observed(sample_step().document());
  CHECK(seen.window == Interval{us(1000), us(1100)});
  CHECK(seen.gpu.busy == us(40));
  CHECK(seen.gpu.compute == us(20));
  CHECK(seen.gpu.communication == us(30));
  CHECK(seen.gpu.communication_and_compute == us(10));
  CHECK(seen.gpu.exposed_communication() == us(20));
  CHECK(seen.gpu.copies_alone() == 0);
  CHECK(seen.idle_length() == us(60));
  REQUIRE(seen.steps.size() == 1);
  CHECK(seen.steps[0].name == "ProfilerStep#3");
  CHECK(seen.steps[0].gpu.busy == us(40));
  CHECK(seen.steps[0].launched_busy == us(40));
}

TEST_CASE("a late launch is told apart by what its thread did") {
  // The launch call begins at 20: before it 10 us of the loader, 2 of Python, 8 of an operator.
  const Observation seen = observed(sample_step().document());
  const IdleCauses& idle = seen.idle.causes;
  CHECK(idle.late_host == us(20));
  CHECK(idle.launch_latency == us(10));
  CHECK(idle.tail == us(30));
  CHECK(seen.idle.late_host.loader == us(10));
  CHECK(seen.idle.late_host.operation == us(8));
  CHECK(seen.idle.late_host.python == us(2));
  CHECK(idle.tiny + idle.queued + idle.unmatched == 0);
  REQUIRE(seen.late_gaps.size() == 1);
  CHECK(seen.late_gaps[0].before == "volta_sgemm_64x64_nt");
  CHECK(seen.late_gaps[0].seconds == doctest::Approx(30e-6));
  CHECK(seen.late_gaps[0].late_s == doctest::Approx(20e-6));
}

TEST_CASE("a synchronising call comes before an operator and other calls") {
  const Observation seen = observed(step_of_200()
                                        .operation("aten::item", "0", "100")
                                        .call("cudaMemcpyAsync", "10", "20", 3)
                                        .call("cudaStreamSynchronize", "20", "60", 4)
                                        .call("cudaLaunchKernel", "120", "5", 5)
                                        .kernel("sgemm", "130", "70", 5)
                                        .document());
  const HostStates& host = seen.idle.late_host;
  CHECK(host.sync == us(60));
  CHECK(host.runtime == us(10));
  CHECK(host.operation == us(30));
  CHECK(host.python == us(20));
  CHECK(seen.idle.causes.late_host == us(120));
}

TEST_CASE("only the thread of the next launch counts") {
  const Observation seen = observed(step_of_200()
                                        .operation("aten::mm", "0", "100")
                                        .call("cudaLaunchKernel", "50", "5", 5, 2)
                                        .kernel("sgemm", "60", "140", 5)
                                        .document());
  CHECK(seen.idle.late_host.python == us(50));
  CHECK(seen.idle.late_host.operation == 0);
}

TEST_CASE("gaps: tiny, queued, unmatched and the tail") {
  const Observation seen = observed(step_of_200()
                                        .call("cudaLaunchKernel", "0", "1", 1)
                                        .call("cudaLaunchKernel", "1", "1", 2)
                                        .call("cudaLaunchKernel", "2", "1", 3)
                                        .kernel("sgemm", "0", "50", 1)
                                        .kernel("sgemm", "51.5", "48.5", 2)
                                        .kernel("sgemm", "120", "30", 3)
                                        .kernel("sgemm", "160", "30", 99)
                                        .document());
  const IdleCauses& idle = seen.idle.causes;
  CHECK(idle.tiny == 1500);
  CHECK(idle.queued == us(20));
  CHECK(idle.unmatched == us(10));
  CHECK(idle.tail == us(10));
  CHECK(seen.idle_length() == idle.tiny + idle.queued + idle.unmatched + idle.tail);
  CHECK(is_said(seen.not_known, "1 of 4 activities have no launch"));
}

TEST_CASE("without steps the window is that of the GPU, and a step's time is not known") {
  const Observation seen = observed(SampleTrace()
                                        .call("cudaLaunchKernel", "0", "5", 1)
                                        .kernel("sgemm", "10", "20", 1)
                                        .copy("40", "10", 2)
                                        .document());
  CHECK(seen.window == Interval{us(10), us(50)});
  CHECK(seen.gpu.copies_alone() == us(10));
  CHECK(is_said(seen.not_known, "No steps are marked"));
}

TEST_CASE("gaps within a graph's replay are not known to be idle") {
  const Observation seen = observed(step_of_200()
                                        .call("cudaGraphLaunch", "0", "5", 1)
                                        .kernel("sgemm", "0", "50", 1)
                                        .kernel("sgemm", "90", "110", 1)
                                        .document());
  CHECK(seen.idle.causes.queued == us(40));
  CHECK(seen.idle.doubts.graph_replays == us(40));
  CHECK(seen.idle.doubts.of_queued == us(40));
  CHECK(is_said(seen.not_known, "1 replay of a CUDA graph with 2 activities"));
}

TEST_CASE("long waits while nothing runs are not known to be idle") {
  const Observation seen = observed(SampleTrace()
                                        .annotation("ProfilerStep#1", "0", "5000")
                                        .call("cudaLaunchKernel", "0", "5", 1)
                                        .call("cudaLaunchKernel", "5", "5", 2)
                                        .kernel("sgemm", "0", "1000", 1)
                                        .kernel("sgemm", "3000", "2000", 2)
                                        .document());
  CHECK(seen.idle.causes.queued == us(2000));
  CHECK(seen.idle.doubts.long_waits == us(2000));
  CHECK(is_said(seen.not_known, "work that was launched waits"));
}

TEST_CASE("kernels that overlap within a stream count once") {
  const Observation seen = observed(step_of_200()
                                        .call("cudaLaunchKernelExC", "0", "5", 1)
                                        .call("cudaLaunchKernelExC", "5", "5", 2)
                                        .kernel("sgemm", "0", "100", 1)
                                        .kernel("sgemm", "90", "110", 2)
                                        .document());
  CHECK(seen.gpu.busy == us(200));
  CHECK(is_said(seen.not_known, "1 kernel starts while the one before it"));
}

TEST_CASE("what a recording cannot tell is said") {
  SampleTrace trace;
  trace.annotation("ProfilerStep#1", "0", "30")
      .annotation("ProfilerStep#2", "30", "100")
      .annotation("ProfilerStep#3", "130", "100")
      .call("cudaLaunchKernel", "40", "5", 1)
      .call("cudaLaunchKernel", "60", "5", 2)
      .call("cudaLaunchKernel", "70", "5", 3)
      .kernel("sgemm", "38", "10", 1)
      .kernel("nobody_knows_it", "65", "300", 2);
  const Observation seen = observed(trace.document(R"("with_stack": 1, "record_shapes": 1,)"));
  CHECK(is_said(seen.not_known,
                "The first step (ProfilerStep#1) is cut: it launches 0, and others 2"));
  CHECK(is_said(seen.not_known, "The GPU works until 135 us after the last step"));
  CHECK(is_said(seen.not_known, "1 activity starts before their launch"));
  CHECK(is_said(seen.not_known, "1 of 3 launches have no kernel"));
  CHECK(is_said(seen.not_known, "Python stacks and shapes"));
  CHECK(is_said(seen.not_known, "calib/kernels.yaml does not know"));
  CHECK(seen.steps[1].launched_busy == us(310));
}

TEST_CASE("a recording that is whole leaves nothing to say") {
  CHECK(observed(sample_step().document()).not_known.empty());
}
