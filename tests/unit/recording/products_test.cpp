// Products of matrices by recorded sizes: their FLOPs, their kernels' time, what is attainable.
#include <doctest/doctest.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/recording/products/product.hpp"
#include "sim/recording/products/product_type.hpp"
#include "sim/replay/replay.hpp"
#include "tests/unit/recording/sample_trace.hpp"

namespace stepsim {
namespace {

constexpr const char* kHopper =
    R"("deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],)";

const GpuProfile& h100() {
  static const GpuProfile gpu = load_gpu("h100", Library{{source_folder()}});
  return gpu;
}

/// An operator with sizes, as Kineto has it.
std::string operation(const std::string& name, const std::string& sizes, const std::string& type,
                      int ts, int duration) {
  return fmt::format(
      R"({{"ph":"X","cat":"cpu_op","name":"aten::{}","pid":100,"tid":1,"ts":{},"dur":{},"args":{{"Input Dims":{},"Input type":["{}"]}}}})",
      name, ts, duration, sizes, type);
}

/// A step of 1 ms in which `trace` has launches by calls of the numbers 1, 2, ...
Products products(SampleTrace trace, const GpuProfile* gpu = nullptr) {
  trace.annotation("ProfilerStep#3", "1000", "1000");
  return observe(recording_of(trace.document(kHopper)), sample_kinds(), gpu).products;
}

SampleTrace product(const std::string& name, const std::string& sizes, const std::string& type,
                    const std::string& kernel = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN") {
  return SampleTrace()
      .add(operation(name, sizes, type, 1010, 30))
      .call("cudaLaunchKernel", "1020", "5", 1)
      .kernel(kernel, "1100", "100", 1);
}

TEST_CASE("a product has the FLOPs of its sizes and the time of its kernels") {
  const Products found = products(product("mm", "[[4096,1024],[1024,2048]]", "c10::BFloat16"));
  REQUIRE(found.times.size() == 1);
  const ProductTime& time = found.times[0];
  CHECK(time.title == "4096 x 2048 x 1024");
  CHECK(time.precision == Precision::bf16);
  CHECK(time.calls == 1);
  CHECK(time.seconds == doctest::Approx(100e-6));
  CHECK(time.flops.flops() == 2.0 * 4096 * 2048 * 1024);
  CHECK(!time.attainable);
  CHECK(!found.at_peak);
  CHECK(found.unknown_s == 0);
}

TEST_CASE("the profile says what is attainable, and the peak that all are held against") {
  const Products found =
      products(product("mm", "[[4096,1024],[1024,2048]]", "c10::BFloat16"), &h100());
  const Gemm gemm{.m = 4096, .n = 2048, .k = 1024};
  REQUIRE(found.times.size() == 1);
  CHECK(found.times[0].attainable == kernel_time(gemm, h100()));
  CHECK(found.at_peak == found.flops / peak_rate(h100(), Precision::bf16));
  CHECK(found.profile == "h100");
}

TEST_CASE("an operator inside another counts once, with all kernels that it launched") {
  SampleTrace trace;
  trace.add(operation("linear", "[[8,16,32],[64,32],[64]]", "float", 1005, 50))
      .add(operation("addmm", "[[64],[128,32],[32,64]]", "float", 1010, 30))
      .call("cudaLaunchKernel", "1020", "5", 1)
      .call("cudaLaunchKernel", "1030", "5", 2)
      .kernel("ampere_sgemm_32x32_sliced1x4_tn", "1100", "10", 1)
      .kernel("void cublasLt::splitKreduce_kernel<32, 16, int, float>()", "1110", "2", 2);
  const Products found = products(trace);
  REQUIRE(found.times.size() == 1);
  CHECK(found.times[0].title == "128 x 64 x 32");
  CHECK(found.times[0].precision == Precision::fp32);
  CHECK(found.times[0].calls == 1);
  CHECK(found.times[0].seconds == doctest::Approx(12e-6));
}

TEST_CASE("batches; of float only a kernel's name tells whether it is tf32") {
  const Products found =
      products(product("bmm", "[[12,128,64],[12,64,128]]", "float", "ampere_sgemm_128x64_nn"));
  REQUIRE(found.times.size() == 1);
  CHECK(found.times[0].title == "12 of 128 x 128 x 64");
  CHECK(found.times[0].flops.flops() == 2.0 * 12 * 128 * 128 * 64);
  CHECK(found.times[0].precision == Precision::fp32);
  CHECK(product_type_in("sm80_xmma_gemm_tf32f32_tf32f32_f32") == "tf32");
  RecordedShape shape;
  shape.type = "float";
  CHECK(precision_of(shape, "cutlass_80_tensorop_s1688gemm_128x128") == Precision::tf32);
  CHECK(precision_of(shape, "volta_sgemm_64x64_nt") == Precision::fp32);
  shape.type = "double";
  CHECK(!precision_of(shape, "volta_dgemm_64x64_nt"));
}

TEST_CASE("a forward convolution has the output that its backward pass records") {
  const std::string forward = "[[32,64,56,56],[128,64,3,3],[]]";
  SampleTrace both;
  both.add(operation("convolution", forward, "c10::Half", 1010, 10))
      .call("cudaLaunchKernel", "1012", "2", 1)
      .kernel("sm80_xmma_fprop_implicit_gemm_f16f16", "1100", "50", 1);
  CHECK(products(both).times.empty());
  both.add(operation("convolution_backward", "[[32,128,28,28],[32,64,56,56],[128,64,3,3]]",
                     "c10::Half", 1200, 50))
      .call("cudaLaunchKernel", "1210", "2", 2)
      .call("cudaLaunchKernel", "1220", "2", 3)
      .kernel("sm80_xmma_dgrad_implicit_gemm_f16f16", "1300", "60", 2)
      .kernel("sm80_xmma_wgrad_implicit_gemm_f16f16", "1360", "40", 3);
  const Products found = products(both, &h100());
  REQUIRE(found.times.size() == 2);
  const double flops = 2.0 * 32 * 28 * 28 * 128 * 64 * 9;
  CHECK(found.times[0].title == "grad 3x3/2, 64-128, 32 of 56x56");
  CHECK(found.times[0].flops.flops() == 2 * flops);
  CHECK(found.times[0].seconds == doctest::Approx(100e-6));
  CHECK(found.times[1].flops.flops() == flops);
  const Convolution c{.batch = 32,
                      .in_channels = 64,
                      .out_channels = 128,
                      .image = 56,
                      .filter = 3,
                      .stride = 2,
                      .precision = Precision::fp16};
  CHECK(found.times[1].attainable == kernel_time(c, h100()));
}

TEST_CASE("attention counts as without a mask, backward two and a half times") {
  const std::string heads = "[2,16,1024,64]";
  const double forward = 4.0 * 2 * 16 * 1024 * 1024 * 64;
  const std::string kernel = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>()";
  const Products found =
      products(product("_scaled_dot_product_flash_attention",
                       "[" + heads + "," + heads + "," + heads + "]", "c10::BFloat16", kernel));
  REQUIRE(found.times.size() == 1);
  CHECK(found.times[0].flops.flops() == forward);
  const Products backward = products(product(
      "_scaled_dot_product_flash_attention_backward",
      "[" + heads + "," + heads + "," + heads + "," + heads + "]", "c10::BFloat16", kernel));
  REQUIRE(backward.times.size() == 1);
  CHECK(backward.times[0].flops.flops() == 2.5 * forward);
}

/// Gradients of a convolution, whose output they record, by one kernel of 100 us.
Products gradients(const std::string& output, const std::string& input, const std::string& filter) {
  return products(product("convolution_backward", "[" + output + "," + input + "," + filter + "]",
                          "c10::Half", "sm80_xmma_wgrad_implicit_gemm_f16f16"),
                  &h100());
}

TEST_CASE("strides, groups and pictures; a transposed convolution is none") {
  const Products odd = gradients("[8,64,4,4]", "[8,32,7,7]", "[64,32,3,3]");
  REQUIRE(odd.times.size() == 1);
  CHECK(odd.times[0].title == "grad 3x3/2, 32-64, 8 of 7x7");
  CHECK(odd.times[0].flops.flops() == 2 * 2.0 * 8 * 16 * 64 * 32 * 9);
  CHECK(odd.times[0].attainable);
  const Products grouped = gradients("[8,64,7,7]", "[8,64,7,7]", "[64,1,3,3]");
  REQUIRE(grouped.times.size() == 1);
  CHECK(grouped.times[0].title == "grad 3x3 g64, 64-64, 8 of 7x7");
  CHECK(grouped.times[0].flops.flops() == 2 * 2.0 * 8 * 49 * 64 * 9);
  const Products pictures = gradients("[8,64,7,7]", "[8,3,7,7]", "[64,3,3,3]");
  REQUIRE(pictures.times.size() == 1);
  CHECK(pictures.times[0].flops.flops() == 2.0 * 8 * 49 * 64 * 27);  // of the filter alone
  const Products transposed = gradients("[8,64,8,8]", "[8,64,4,4]", "[64,64,4,4]");
  CHECK(transposed.times.empty());
  CHECK(transposed.unknown_s == doctest::Approx(100e-6));
}

TEST_CASE("forward passes of equal sizes and other strides are not told apart, and left out") {
  SampleTrace trace;
  const auto backward = [&](const char* output, int ts) {
    trace.add(operation("convolution_backward",
                        fmt::format("[[8,64,{}],[8,64,8,8],[64,64,3,3]]", output), "c10::Half", ts,
                        5));
  };
  backward("8,8", 1200);
  backward("4,4", 1300);
  trace.add(operation("convolution", "[[8,64,8,8],[64,64,3,3],[]]", "c10::Half", 1010, 10))
      .call("cudaLaunchKernel", "1012", "2", 1)
      .kernel("sm80_xmma_fprop_implicit_gemm_f16f16", "1100", "50", 1);
  const Products found = products(trace);
  CHECK(found.times.empty());
  CHECK(found.unknown_s == doctest::Approx(50e-6));
}

TEST_CASE("the longest kernel of a call says its type, and the first one whether it counts") {
  SampleTrace trace;
  trace.add(operation("mm", "[[64,64],[64,64]]", "float", 1001, 30))
      .call("cudaLaunchKernel", "1005", "1", 1)
      .call("cudaLaunchKernel", "1007", "1", 2)
      .kernel("cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)", "1050", "2", 1)
      .kernel("cutlass_80_tensorop_s1688gemm_128x128_tn", "1060", "20", 2);
  const Products found = products(trace);
  REQUIRE(found.times.size() == 1);
  CHECK(found.times[0].precision == Precision::tf32);
  CHECK(found.times[0].calls == 1);
  CHECK(found.times[0].seconds == doctest::Approx(22e-6));
  SampleTrace before;  // the first kernel starts before the step does
  before.add(operation("mm", "[[64,64],[64,64]]", "float", 900, 30))
      .call("cudaLaunchKernel", "905", "1", 1)
      .call("cudaLaunchKernel", "907", "1", 2)
      .kernel("volta_sgemm_64x64_nt", "950", "30", 1)
      .kernel("splitKreduce_kernel", "1060", "20", 2);
  CHECK(products(before).times.empty());
}

TEST_CASE("kernels without a size are named with their time") {
  SampleTrace trace = product("mm", "[[4096,1024],[1024,2048]]", "c10::BFloat16");
  trace.call("cudaLaunchKernel", "1050", "1", 2).kernel("volta_sgemm_64x64_nt", "1250", "300", 2);
  CHECK(products(trace).unknown_s == doctest::Approx(300e-6));
}

TEST_CASE("sizes that are no product are left out") {
  for (const char* sizes : {"[[4096,1024],[1025,2048]]", "[[4096,1024]]", "[]", "[[4096],[2]]",
                            "[[0,1024],[1024,2048]]", "[[9000000000000000000,2],[2,2]]",
                            "[[1000000000000,1000000000000],[1000000000000,2]]"})
    CHECK(products(product("mm", sizes, "c10::BFloat16"), &h100()).times.empty());
  CHECK(products(product("add", "[[4096,1024],[1024,2048]]", "c10::BFloat16")).times.empty());
}

TEST_CASE("a product of matrices that a convolution launches is a convolution") {
  SampleTrace trace = sample_step();
  trace.operation("aten::cudnn_convolution", "1070", "20")
      .call("cudaLaunchKernel", "1075", "2", 21)
      .kernel("volta_sgemm_64x64_nt", "1080", "15", 21);
  const Observation seen = observed(trace.document());
  const auto seconds_of_kind = [&](KernelKind kind) {
    const auto found = std::ranges::find(seen.kinds, kind, &KernelTime::kind);
    return found == seen.kinds.end() ? 0 : found->seconds;
  };
  CHECK(seconds_of_kind(KernelKind::convolution) == doctest::Approx(15e-6));
  CHECK(seconds_of_kind(KernelKind::gemm) == doctest::Approx(20e-6));
}

TEST_CASE("replayed at the attainable rate, a step is shorter by what its product is too slow") {
  SampleTrace trace = product("mm", "[[4096,1024],[1024,2048]]", "c10::BFloat16");
  trace.annotation("ProfilerStep#3", "1000", "200").call("cudaDeviceSynchronize", "1030", "170", 9);
  const Recording recording = recording_of(trace.document(kHopper));
  const auto plan = replay_plan(recording, sample_kinds(), &h100());
  REQUIRE(plan);
  const Replay replayed = replay(*plan);
  const auto change = std::ranges::find(replayed.changes, "products", &ReplayedChange::name);
  REQUIRE(change != replayed.changes.end());
  const double attainable = kernel_time(Gemm{.m = 4096, .n = 2048, .k = 1024}, h100()).seconds();
  CHECK(change->gain_s() == doctest::Approx(100e-6 - attainable).epsilon(1e-4));
  const auto without = replay_plan(recording, sample_kinds());
  CHECK(without->slow_products.empty());
}

TEST_CASE("the allocator's peaks on the GPU are kept") {
  SampleTrace trace = sample_step();
  const auto memory = [](int device_type, int allocated, int reserved) {
    return fmt::format(
        R"({{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":1,"ts":1010,"args":{{"Device Type":{},"Total Allocated":{},"Total Reserved":{}}}}})",
        device_type, allocated, reserved);
  };
  CHECK(!observed(trace.document()).memory);
  trace.add(memory(1, 500, 900)).add(memory(1, 700, 800)).add(memory(0, 5000, 9000));
  const Observation seen = observed(trace.document());
  REQUIRE(seen.memory);
  CHECK(seen.memory->allocated_bytes == 700);
  CHECK(seen.memory->reserved_bytes == 900);
}

}  // namespace
}  // namespace stepsim
