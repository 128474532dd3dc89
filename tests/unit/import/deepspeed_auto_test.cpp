// "auto" in DeepSpeed's file is what Hugging Face's Trainer fills in.
#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

const std::string kAuto = R"({
  "fp16": {"enabled": false},
  "bf16": {"enabled": "auto"},
  "zero_optimization": {"stage": 3, "overlap_comm": true, "contiguous_gradients": true,
    "reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": "auto",
    "stage3_param_persistence_threshold": "auto", "sub_group_size": 1000000000},
  "gradient_accumulation_steps": "auto",
  "gradient_clipping": "auto",
  "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto"
})";

}  // namespace

TEST_CASE("what is left to the Trainer is its arguments' default, and each is listed") {
  const ImportResult r = import_of("ds.json", kAuto);
  const Training& t = r.scenario.training;
  CHECK(t.precision == Precision::bf16);
  CHECK(t.gradient_clipping);
  CHECK(t.micro_batch == 8);
  CHECK(t.global_batch == 8 * 8);
  const DataParallel& d = r.scenario.parallelism.data;
  CHECK(d.bucket.bytes() == 4096.0 * 4096 * 2);
  CHECK(d.persistence_threshold == 10 * 4096);
  for (const char* said :
       {"assumed: precision bf16: ", "assumed: gradient clipping 1.0: ", "assumed: micro-batch 8: ",
        "assumed: accumulation 1: ", "assumed: global batch 64: ", "assumed: optimizer AdamW: ",
        "assumed: zero_optimization.reduce_bucket_size 16777216 elements: ",
        "assumed: zero_optimization.stage3_param_persistence_threshold 40960 elements: ",
        "assumed: zero_optimization.stage3_prefetch_bucket_size 15099494 elements: ",
        "(state it: --micro-batch N)", "(state it: --accumulation N)",
        "(state it: --global-batch N)", "(state it: --precision NAME)"}) {
    CAPTURE(said);
    CHECK(r.says(said));
  }
}

TEST_CASE("what is stated is not left to the Trainer") {
  const std::string stated = R"({"bf16": {"enabled": "auto"}, "gradient_accumulation_steps": "auto",
      "zero_optimization": {"stage": 3, "reduce_bucket_size": "auto"},
      "gradient_clipping": "auto", "train_batch_size": "auto", "train_micro_batch_size_per_gpu": 1})";
  const ImportResult r = import_of("ds.json", stated);
  CHECK(r.scenario.training.micro_batch == 1);
  CHECK(r.scenario.training.global_batch == 8);
  CHECK_FALSE(r.says("assumed: micro-batch"));
  CHECK(r.scenario.parallelism.data.persistence_threshold == 100'000);  // DeepSpeed's own
}

TEST_CASE("options state what is left to the Trainer") {
  const ImportResult r = import_of("ds.json", kAuto,
                                   {.model = "llama3-8b",
                                    .sequence_length = 4096,
                                    .nodes = 2,
                                    .precision = "fp16",
                                    .micro_batch = 2,
                                    .accumulation = 4});
  CHECK(r.scenario.training.precision == Precision::fp16);
  CHECK(r.scenario.training.micro_batch == 2);
  CHECK(r.scenario.training.global_batch == 2 * 4 * 16);
  for (const char* said : {"micro-batch 2:", "accumulation 4:", "precision", "sequence length"}) {
    CAPTURE(said);
    CHECK_FALSE(r.says(std::string("assumed: ") + said));
  }
  const ImportResult whole = import_of("ds.json", kAuto, {.micro_batch = 2, .global_batch = 64});
  CHECK(whole.scenario.training.global_batch == 64);
  CHECK(whole.scenario.training.micro_batch == 2);
}

TEST_CASE("a file of TrainingArguments states it too") {
  const TemporaryFolder folder;
  const std::string path = folder.file("args.yaml",
                                       "model_name_or_path: meta-llama/Meta-Llama-3-8B\n"
                                       "per_device_train_batch_size: 4\n"
                                       "gradient_accumulation_steps: 2\n"
                                       "bf16: true\n"
                                       "max_grad_norm: 0\n"
                                       "gradient_checkpointing: true\n"
                                       "optim: sgd\n"
                                       "max_length: 1024\n"
                                       "learning_rate: 2e-5\n");
  const ImportResult r = import_of("ds.json", kAuto, {.training_arguments = path});
  const Training& t = r.scenario.training;
  CHECK(r.scenario.model.name == "llama3-8b");
  CHECK(t.micro_batch == 4);
  CHECK(t.global_batch == 4 * 2 * 8);
  CHECK_FALSE(t.gradient_clipping);
  CHECK(t.optimizer == "sgd");
  CHECK(t.sequence_length == 1024);
  CHECK(t.recompute.kind == Recompute::full);
  for (const char* said : {"model", "micro-batch", "accumulation", "precision", "gradient"})
    CHECK_FALSE(r.says(std::string("assumed: ") + said));
}

// GRADIENT_CLIPPING_DEFAULT of deepspeedai/DeepSpeed deepspeed/runtime/constants.py is 1.0 since
// v0.19.3, 0 before.
TEST_CASE("gradients are clipped unless DeepSpeed's file says otherwise") {
  const std::string said = "assumed: gradient clipping 1.0: gradient_clipping is not stated";
  const ImportResult open = import_of("ds.json", R"({"train_batch_size": 8})");
  CHECK(open.scenario.training.gradient_clipping);
  CHECK(open.says(said));
  const ImportResult off =
      import_of("ds.json", R"({"train_batch_size": 8, "gradient_clipping": 0})");
  CHECK_FALSE(off.scenario.training.gradient_clipping);
  CHECK_FALSE(off.says(said));
}

// torch_compile and optim of huggingface/transformers src/transformers/training_args.py; an
// optimizer of DeepSpeed's file is DeepSpeed's own.
TEST_CASE("the Trainer's kernels arrive beside DeepSpeed") {
  const TemporaryFolder folder;
  const std::string path =
      folder.file("args.yaml", "torch_compile: true\noptim: adamw_torch_fused\n");
  const Training fused =
      import_of("ds.json", kAuto, {.training_arguments = path}).scenario.training;
  CHECK(fused.fusion == "compiled");
  CHECK(fused.optimizer_kernels == OptimizerKernels::fused);
  const std::string own = R"({"bf16": {"enabled": "auto"}, "train_batch_size": 8,
      "optimizer": {"type": "AdamW"}})";
  CHECK(import_of("ds.json", own, {.training_arguments = path}).text.find("optimizer_kernels") ==
        std::string::npos);
}

// get_data_types of deepspeedai/DeepSpeed deepspeed/runtime/engine.py.
TEST_CASE("gradients are kept in one type and reduced in another where DeepSpeed's file says so") {
  const auto of = [](const std::string& keys) {
    return import_of("ds.json",
                     R"({"train_batch_size": 8, "bf16": {"enabled": true}, )" + keys + "}");
  };
  const std::string wide = R"("data_types": {"grad_accum_dtype": "fp32"})";
  const Scenario kept = of(wide).scenario;
  CHECK(kept.training.gradients == Precision::fp32);
  CHECK(kept.parallelism.data.reduce_dtype == Precision::bf16);
  const Scenario both = of(wide + R"(, "communication_data_type": "fp32")").scenario;
  CHECK(both.training.gradients == Precision::fp32);
  CHECK(both.parallelism.data.reduce_dtype == std::nullopt);
  const Scenario sent = of(R"("communication_data_type": "fp32")").scenario;
  CHECK(sent.training.gradients == Precision::bf16);
  CHECK(sent.parallelism.data.reduce_dtype == Precision::fp32);
  const ImportResult third =
      of(wide + R"(, "communication_data_type": "fp16", "zero_optimization": {"stage": 3})");
  CHECK(third.scenario.training.gradients == Precision::fp16);
  CHECK(third.scenario.parallelism.data.reduce_dtype == std::nullopt);
  CHECK(third.says("data_types.grad_accum_dtype: gradients add up in the type"));
}

TEST_CASE("three batch sizes say how many GPUs there are, and the list says so") {
  const ImportResult r = import_of("ds.json", R"({"train_batch_size": 256,
      "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2})");
  CHECK(r.scenario.cluster.gpus() == 32);
  CHECK(
      r.says("assumed: nodes 4 of 8 GPUs: 32 GPUs: train_batch_size 256 / (micro-batch 4 x "
             "accumulation 2), on full nodes (state it: --nodes N)"));
  CHECK_FALSE(r.says("as few as"));
}

TEST_CASE("a misspelt key of DeepSpeed is named with the one that may be meant") {
  const ImportResult r = import_of("ds.json", R"({"train_batch_size": 8,
      "gradient_cliping": 1.0, "zero_optimization": {"stage": 2, "overlap_com": true}})");
  CHECK(r.says("gradient_cliping: not known here, did you mean 'gradient_clipping'?"));
  CHECK(r.says("zero_optimization.overlap_com: not known here, did you mean 'overlap_comm'?"));
}

TEST_CASE("a model of the Trainer's that is not known here is asked for") {
  const TemporaryFolder folder;
  const std::string path = folder.file("args.json", R"({"model_name_or_path": "acme/secret-9b"})");
  CHECK(refusal_of("ds.json", kAuto, {.training_arguments = path})
            .find("args.json:1:24: model_name_or_path: the model 'acme/secret-9b' is not in "
                  "models/, name one with --model NAME") != std::string::npos);
}
