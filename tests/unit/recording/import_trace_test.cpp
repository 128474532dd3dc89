// Scenarios of recordings whose runs are known.
#include <filesystem>

#include <doctest/doctest.h>

#include "tests/unit/import/imported.hpp"
#include "tests/unit/recording/sample_trace.hpp"

namespace stepsim {
namespace {

/// Steps of 100 ms, written one event behind the other.
class Run {
 public:
  explicit Run(bool has_shapes) : has_shapes_(has_shapes) {}

  Run& step() {
    at_ = ++steps_ * 100'000;
    trace_.annotation(fmt::format("ProfilerStep#{}", steps_), std::to_string(at_), "99000");
    return *this;
  }
  Run& annotation(const std::string& name, int dur = 5) {
    trace_.annotation(name, next(dur), std::to_string(dur));
    return *this;
  }
  Run& operation(const std::string& name, const std::string& sizes = "",
                 const std::string& type = "float") {
    const std::string args =
        sizes.empty() || !has_shapes_
            ? ""
            : fmt::format(R"(,"args":{{"Input Dims":{},"Input type":["{}","{}"]}})", sizes, type,
                          type);
    trace_.add(fmt::format(
        R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":100,"tid":1,"ts":{},"dur":5{}}})", name,
        next(5), args));
    return *this;
  }
  Run& backward(const std::string& inner) {
    const std::string at = next(30);
    trace_.operation("autograd::engine::evaluate_function: AddmmBackward0", at, "30");
    trace_.operation(inner, at, "20");
    return *this;
  }
  Run& kernel(const std::string& name) {
    const std::string at = next(10);
    ++launches_;
    trace_.call("cudaLaunchKernel", at, "5", launches_).kernel(name, at, "10", launches_);
    return *this;
  }
  Run& collective(const std::string& name, const std::string& group, int size, double elements,
                  const std::string& type = "BFloat16") {
    const std::string at = next(10);
    ++launches_;
    trace_.call("cudaLaunchKernel", at, "5", launches_);
    const std::string args = fmt::format(
        R"("Collective name":"{}","Process Group Description":"{}","Process Group Name":"{}",)"
        R"("Group size":{},"In msg nelems":{:.0f},"Out msg nelems":{:.0f},"dtype":"{}")",
        name, group, group, size, elements, elements, type);
    trace_.add(fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic","pid":0,"tid":20,"ts":{},)"
        R"("dur":9,"args":{{"device":0,"correlation":{},{}}}}})",
        at, launches_, args));
    return *this;
  }
  /// A forward pass of GPT-2 with 4 sequences of 1024 tokens.
  Run& gpt2(int layers = 12, int hidden = 768) {
    operation("aten::embedding", fmt::format("[[50257,{}],[4,1024]]", hidden));
    operation("aten::embedding", fmt::format("[[1024,{}],[1024]]", hidden));
    const auto linear = [&](int out, int in) {
      operation("aten::linear", fmt::format("[[4,1024,{}],[{},{}],[{}]]", in, out, in, out));
      operation("aten::addmm", fmt::format("[[{}],[4096,{}],[{},{}]]", out, in, in, out),
                "c10::BFloat16");
    };
    for (int layer = 0; layer < layers; ++layer) {
      operation("aten::layer_norm").operation("aten::layer_norm");
      linear(3 * hidden, hidden);
      operation("aten::scaled_dot_product_attention",
                fmt::format("[[4,{0},1024,64],[4,{0},1024,64],[4,{0},1024,64]]", hidden / 64),
                "c10::BFloat16");
      linear(hidden, hidden);
      linear(4 * hidden, hidden);
      linear(hidden, 4 * hidden);
    }
    operation("aten::layer_norm");
    operation("aten::linear", fmt::format("[[4,1024,{0}],[50257,{0}],[]]", hidden));
    kernel("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>()");
    return kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN");
  }

  std::string text(int world, const std::string& device = "NVIDIA H100 80GB HBM3") const {
    return trace_.document(
        fmt::format(R"("deviceProperties": [{{"id": 0, "name": "{}"}}],)"
                    R"("distributedInfo": {{"backend": "nccl", "rank": 0, "world_size": {}}},)",
                    device, world));
  }

 private:
  std::string next(int dur) {
    at_ += dur + 1;
    return std::to_string(at_);
  }
  SampleTrace trace_;
  bool has_shapes_;
  int steps_ = 0, at_ = 0, launches_ = 0;
};

ImportOptions of_file(const File& file, const std::string& from = "trace") {
  ImportOptions options;
  options.from = from;
  options.file = file.path();
  return options;
}

Imported imported_trace(const std::string& text, ImportOptions options = {}) {
  const File file("rank0.pt.trace.json", text);
  options.from = "trace";
  options.file = file.path();
  return imported(options);
}

Run ddp_run(bool has_shapes) {
  Run run(has_shapes);
  for (int step = 0; step < 3; ++step) {
    run.step();
    for (int pass = 0; pass < 2; ++pass) {
      run.annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
          .annotation("DistributedDataParallel.forward")
          .gpt2()
          .operation("aten::cross_entropy_loss")
          .backward("aten::mm");
    }
    run.collective("allreduce", "default_pg", 2, 100'000'000, "Float")
        .collective("allreduce", "default_pg", 2, 24'439'808, "Float")
        .annotation("Optimizer.step#AdamW.step")
        .kernel("multi_tensor_apply_kernel<FusedAdamMathFunctor>");
  }
  return run;
}

TEST_CASE("a recording of DistributedDataParallel says model, batch, passes and optimizer") {
  const Imported made = imported_trace(ddp_run(true).text(2));
  const Scenario& s = made.scenario;
  CHECK(s.framework == Framework::pytorch_ddp);
  CHECK(s.model.name == "gpt2");
  CHECK(s.cluster.gpu.name == "h100");
  CHECK(s.cluster.gpus() == 2);
  CHECK(s.training.sequence_length == 1024);
  CHECK(s.training.micro_batch == 4);
  CHECK(s.micro_batches() == 2);
  CHECK(s.training.precision == Precision::bf16);
  CHECK(s.training.gradients == Precision::fp32);
  CHECK(s.training.optimizer == "adam");
  CHECK(s.training.optimizer_kernels == OptimizerKernels::fused);
  CHECK(s.training.attention == "flash2");
  CHECK(s.parallelism.data.sharding.name == "ddp");
  CHECK_FALSE(s.data);
  CHECK(made.assumed.find("model gpt2: it has what was recorded: 12 layers, 768 wide") !=
        std::string::npos);
  CHECK(made.assumed.find("--cluster NAME") != std::string::npos);
  CHECK(made.assumed.find("how many workers") != std::string::npos);
}

TEST_CASE("without sizes the reduced gradients tell the model, and the rest is asked for") {
  const Imported made = imported_trace(ddp_run(false).text(2));
  CHECK(made.scenario.model.name == "gpt2");
  CHECK(made.scenario.micro_batches() == 2);
  CHECK(made.scenario.training.sequence_length == 1024);
  CHECK(made.assumed.find("micro-batch 1: sizes of tensors were not recorded") !=
        std::string::npos);
  CHECK(made.assumed.find("--sequence-length TOKENS") != std::string::npos);
}

TEST_CASE("gradients beyond all whole numbers are said as they were recorded") {
  Run run(false);
  run.step().annotation("DistributedDataParallel.forward").operation("aten::linear");
  for (int bucket = 0; bucket < 3; ++bucket) run.collective("allreduce", "default_pg", 2, 9e18);
  run.annotation("Optimizer.step#AdamW.step");
  const Imported made = imported_trace(run.text(2));
  CHECK(made.assumed.find("27000000000000000000 gradients") != std::string::npos);
}

TEST_CASE("options count before what was recorded") {
  ImportOptions options;
  options.model = "gpt2-medium";
  options.sequence_length = 512;
  options.micro_batch = 3;
  options.accumulation = 5;
  options.precision = "fp16";
  options.cluster = "dgx-a100-80";
  const Imported made = imported_trace(ddp_run(true).text(2), options);
  CHECK(made.scenario.model.name == "gpt2-medium");
  CHECK(made.scenario.training.sequence_length == 512);
  CHECK(made.scenario.training.global_batch == 30);
  CHECK(made.scenario.training.precision == Precision::fp16);
  CHECK(made.scenario.cluster.gpu.name == "a100-80");
}

TEST_CASE(
    "gathers and reduce-scatters of FSDP are a sharded scenario, and what is repeated is seen") {
  Run run(true);
  for (int step = 0; step < 2; ++step) {
    run.step().annotation("FSDP::root_pre_forward").gpt2(7, 640);
    for (int layer = 0; layer < 7; ++layer) {
      run.collective("_allgather_base", "mesh_dp_shard", 4, 1'000'000)
          .backward("aten::scaled_dot_product_attention")
          .collective("_allgather_base", "mesh_dp_shard", 4, 1'000'000)
          .collective("_reduce_scatter_base", "mesh_dp_shard", 4, 1'000'000)
          .collective("allreduce", "mesh_dp_replicate", 2, 250'000);
    }
    run.annotation("Optimizer.step#AdamW.step");
  }
  const Imported made = imported_trace(run.text(8, "NVIDIA A100-SXM4-80GB"));
  const Scenario& s = made.scenario;
  CHECK(s.framework == Framework::pytorch_fsdp2);
  CHECK(s.cluster.gpu.name == "a100-80");
  CHECK(s.parallelism.data.shard_degree == 4);
  CHECK(made.text.find("sharding: zero3") != std::string::npos);
  REQUIRE(std::holds_alternative<Transformer>(s.model.shape));
  const auto& shape = std::get<Transformer>(s.model.shape);
  CHECK(shape.layers == 7);
  CHECK(shape.hidden == 640);
  CHECK(shape.heads == 10);
  CHECK(shape.ffn == 2560);
  CHECK(shape.vocabulary == 50257);
  CHECK(shape.positions == 1024);
  CHECK_FALSE(shape.gated_mlp);
  CHECK(made.text.find("recompute: full") != std::string::npos);
}

TEST_CASE("descriptions of groups are degrees") {
  Run run(false);
  run.step()
      .collective("allreduce", "TENSOR_MODEL_PARALLEL_GROUP", 2, 4096)
      .backward("aten::mm")
      .collective("allreduce", "DATA_PARALLEL_GROUP_WITH_CP", 2, 1'000'000, "Float")
      .collective("send", "PIPELINE_MODEL_PARALLEL_GROUP", 4, 4096)
      .collective("allreduce", "MODEL_PARALLEL_GROUP", 8, 1);
  ImportOptions options;
  options.model = "gpt3-1.3b";
  const Imported made = imported_trace(run.text(16), options);
  const Scenario& s = made.scenario;
  CHECK(s.framework == Framework::megatron);
  CHECK(s.parallelism.tensor == 2);
  CHECK(s.parallelism.context.degree == 1);
  CHECK(s.parallelism.pipeline.stages == 4);
  CHECK(s.data_parallel() == 2);
  CHECK(s.cluster.nodes == 2);
  CHECK(made.notes.find("among 8 ranks") != std::string::npos);
}

TEST_CASE("tensor ranks beside data ranks of a mesh") {
  Run run(false);
  run.step()
      .collective("allreduce", "mesh_tp", 2, 4096)
      .backward("aten::mm")
      .collective("allreduce", "mesh_dp", 4, 1'000'000);
  const Imported made = imported_trace(run.text(8));
  CHECK(made.scenario.parallelism.tensor == 2);
  CHECK(made.scenario.data_parallel() == 4);
}

TEST_CASE("steps of the optimizer hold the marked ones where these are micro-batches") {
  Run run(true);
  for (int step = 0; step < 8; ++step) {
    run.step().gpt2().operation("aten::cross_entropy_loss").backward("aten::mm");
    if (step % 4 == 3) run.annotation("Optimizer.step#SGD.step");
  }
  const Imported made = imported_trace(run.text(1));
  CHECK(made.scenario.micro_batches() == 4);
  CHECK(made.scenario.model.name == "gpt2");
  CHECK(made.scenario.training.optimizer == "momentum");
}

TEST_CASE("a loader in the process decodes as long as it was seen to") {
  Run run(true);
  run.step()
      .annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 8000)
      .gpt2()
      .backward("aten::mm");
  const Imported made = imported_trace(run.text(1));
  REQUIRE(made.scenario.data);
  CHECK(made.scenario.data->workers == 0);
  CHECK(made.scenario.data->decode.seconds() == doctest::Approx(0.002));
}

TEST_CASE("a recording is recognised by its file, and a folder by being one") {
  const TemporaryFolder folder;
  folder.file("rank0.json", ddp_run(false).text(8));
  const std::string second = folder.file("rank1.json", ddp_run(false).text(8));
  ImportOptions options;
  options.file = std::filesystem::path(second).parent_path().string();
  CHECK(imported(options).scenario.cluster.gpus() == 8);
  const File file("trace.json.gz", packed(ddp_run(false).text(2)));
  CHECK(imported(of_file(file, "")).scenario.cluster.gpus() == 2);
  const File toml("train.toml", "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n");
  CHECK(error_of(of_file(toml, "")).find("no recording") == std::string::npos);
}

TEST_CASE("what was not trained is refused") {
  const File inference("trace.json", Run(true).step().gpt2().text(1));
  CHECK(error_of(of_file(inference)).find("inference is not simulated") != std::string::npos);
  const File empty("trace.json", R"({"schemaVersion": 1, "traceEvents": []})");
  CHECK(error_of(of_file(empty)).find("JSON without its events") != std::string::npos);
  const File idle("trace.json", SampleTrace().annotation("hello", "1", "5").document());
  CHECK(error_of(of_file(idle)).find("neither kernels nor operators") != std::string::npos);
}

TEST_CASE("devices that are unknown are said to be") {
  const Imported made = imported_trace(ddp_run(true).text(2, "AMD Instinct MI300X"));
  CHECK(made.notes.find("AMD Instinct MI300X: no file of calib/gpus/ is of it") !=
        std::string::npos);
}

}  // namespace
}  // namespace stepsim
