// Each moment of a recorded step has one cause, by what launched the kernels.
#include <doctest/doctest.h>

#include "sim/recording/core_device.hpp"
#include "sim/recording/observation.hpp"
#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;

namespace {

/// In microseconds.
Nanoseconds of(const Observation& seen, Cause cause) { return seen.breakdown.of(cause) / 1000; }

}  // namespace

TEST_CASE("kernels count as forward, backward, recomputation and optimizer by their launches") {
  const Observation seen = observed(
      SampleTrace()
          .annotation("ProfilerStep#1", "0", "200")
          .operation("aten::linear", "0", "10")
          .call("cudaLaunchKernel", "1", "2", 1)
          .operation("autograd::engine::evaluate_function: CheckpointFunctionBackward", "10", "40")
          .operation("aten::linear", "11", "5")
          .call("cudaLaunchKernel", "12", "2", 2)
          .operation("autograd::engine::evaluate_function: MmBackward0", "20", "10")
          .call("cudaLaunchKernel", "21", "2", 3)
          .annotation("Optimizer.step#AdamW.step", "60", "10")
          .operation("aten::_foreach_add_", "61", "5")
          .call("cudaLaunchKernel", "62", "2", 4)
          .kernel("sgemm", "10", "20", 1)
          .kernel("sgemm", "30", "30", 2)
          .kernel("sgemm", "60", "40", 3)
          .kernel("multi_tensor_apply_kernel", "100", "100", 4)
          .document());
  CHECK(of(seen, Cause::forward) == 20);
  CHECK(of(seen, Cause::recompute) == 30);
  CHECK(of(seen, Cause::backward) == 40);
  CHECK(of(seen, Cause::optimizer) == 100);
  CHECK(of(seen, Cause::launch_gap) == 10);
  CHECK(seen.breakdown.not_known == 0);
}

TEST_CASE("idle time is the loader's, the CPU's, the collector's or the launches'") {
  const Observation seen =
      observed(SampleTrace()
                   .annotation("ProfilerStep#1", "0", "100")
                   .annotation("enumerate(DataLoader)#x", "0", "20")
                   .host("python_function", "train.py(17): step", "20", "80")
                   .operation("aten::item", "20", "20")
                   .call("cudaStreamSynchronize", "21", "19", 9)
                   .host("python_function", "<built-in function collect>", "40", "30")
                   .call("cudaLaunchKernel", "80", "2", 1)
                   .kernel("sgemm", "82", "18", 1)
                   .document());
  CHECK(of(seen, Cause::batch_wait) == 20);
  CHECK(of(seen, Cause::cpu_work) == 19);
  CHECK(of(seen, Cause::garbage_collection) == 30);
  CHECK(of(seen, Cause::launch_gap) == 13);
  CHECK(of(seen, Cause::forward) == 18);
}

TEST_CASE("a job of GPUs without kernels is no job of a core") {
  const auto steps = [] {
    return SampleTrace().annotation("ProfilerStep#1", "0", "100").operation("aten::mm", "0", "90");
  };
  CHECK(is_of_core(recording_of(steps().document())));
  CHECK_FALSE(is_of_core(recording_of(steps().call("cudaLaunchKernel", "5", "5", 1).document())));
  CHECK_FALSE(is_of_core(
      recording_of(steps().document(R"("deviceProperties": [{"id": 0, "name": "H100"}],)"))));
}

TEST_CASE("the place of a late host is its operator, call and line") {
  const Observation seen =
      observed(SampleTrace()
                   .annotation("ProfilerStep#1", "0", "100")
                   .host("python_function", "train.py(17): step", "0", "100")
                   .host("python_function", "torch/_tensor.py(8): item", "0", "60")
                   .operation("aten::item", "0", "60")
                   .operation("aten::_local_scalar_dense", "1", "58")
                   .call("cudaStreamSynchronize", "2", "56", 9)
                   .call("cudaLaunchKernel", "70", "2", 1)
                   .kernel("sgemm", "72", "28", 1)
                   .document());
  REQUIRE(seen.late_sites.size() >= 2);
  const LateSite& site = seen.late_sites.front();
  CHECK(site.kind == IdleKind::late_sync);
  CHECK(site.place.operation == "aten::item");
  CHECK(site.place.call == "cudaStreamSynchronize");
  CHECK(site.place.line == "train.py(17): step");
  CHECK(site.idle == 56'000);
  CHECK(site.times == 1);
}

TEST_CASE("copies to the GPU and from it have causes of their own") {
  const Observation seen =
      observed(SampleTrace()
                   .annotation("ProfilerStep#1", "0", "100")
                   .call("cudaMemcpyAsync", "0", "1", 1)
                   .call("cudaLaunchKernel", "1", "1", 2)
                   .call("cudaMemcpyAsync", "2", "1", 3)
                   .copy("0", "30", 1)
                   .kernel("sgemm", "20", "50", 2, "9")
                   .gpu("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", "70", "30", 3, "7")
                   .document());
  CHECK(of(seen, Cause::h2d) == 20);
  CHECK(of(seen, Cause::forward) == 50);
  CHECK(of(seen, Cause::cpu_work) == 30);
}

TEST_CASE("functions of Python are the user's unless a library's") {
  CHECK(is_users("train.py(42): main"));
  CHECK(is_users("/home/me/model/gpt.py(7): forward"));
  CHECK_FALSE(is_users("torch/nn/modules/module.py(1501): _call_impl"));
  CHECK_FALSE(is_users("/opt/conda/lib/python3.10/queue.py(171): get"));
  CHECK_FALSE(is_users("/venv/site-packages/transformers/trainer.py(3): step"));
  CHECK_FALSE(is_users("<built-in method item of Tensor object at 0x7f>"));
}
