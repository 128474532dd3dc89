// Words outside a choice and names that are misspelt are refused, all in one pass.
#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

const std::string kRun =
    "torchrun --nnodes 4 --nproc_per_node 8 pretrain_gpt.py --seq-length 4096 --num-layers 32 "
    "--micro-batch-size 1 --global-batch-size 512 --hidden-size 4096 --num-attention-heads 32 "
    "--vocab-size 32000 --position-embedding-type rope ";

std::string refused(const std::string& options) {
  return refusal_of("train.sh", kRun + options + "\n");
}

ImportResult run(const std::string& options) {
  return import_of("train.sh", kRun + options + "\n");
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string titan(const std::string& rest) {
  return "[model]\nname = \"llama3\"\nflavor = \"8B\"\n" + rest;
}

const std::string kNanotron =
    "general: {project: a, run: b}\nmodel:\n  dtype: bfloat16\n  model_config:\n"
    "    hidden_size: 2048\n    intermediate_size: 8192\n    is_qwen2_config: true\n"
    "    moe_config: null\n    num_attention_heads: 32\n    num_hidden_layers: 16\n"
    "    num_key_value_heads: 8\n    vocab_size: 49152\n"
    "parallelism:\n  dp: 4\n  pp: 2\n  pp_engine: 1f1b\n  tp: 2\n  tp_mode: REDUCE_SCATTER\n"
    "tokens: {micro_batch_size: 3, sequence_length: 8192}\n";

std::string with(std::string text, const std::string& before, const std::string& after) {
  return text.replace(text.find(before), before.size(), after);
}

const std::string kTrainer =
    "model_name_or_path: meta-llama/Meta-Llama-3-8B\nper_device_train_batch_size: 2\n"
    "bf16: true\nmax_length: 4096\nfsdp: full_shard auto_wrap\n";

}  // namespace

TEST_CASE("words outside a choice of Megatron-LM are refused in one pass") {
  const std::string all = refused(
      "--bf16 --fp8-format foo --normalization rmsnorm --attention-backend foo "
      "--moe-token-dispatcher-type alltoal --num-experts 8 --expert-model-parallel-size 8 "
      "--clip-grad nan --hidden-dropout 2 --attention-dropout nan --transformer-impl foo "
      "--recompute-granularity ful --main-grads-dtype foo");
  for (const char* said :
       {"--fp8-format 'foo' is not e4m3 or hybrid", "did you mean 'RMSNorm'?",
        "--attention-backend 'foo' is not flash, fused, unfused, local or auto",
        "did you mean 'alltoall'?", "--clip-grad 'nan' is no number",
        "--hidden-dropout '2' is no number from 0 to 1", "--attention-dropout 'nan'",
        "--transformer-impl 'foo'", "did you mean 'full'?", "--main-grads-dtype 'foo'"})
    CHECK_MESSAGE(has(all, said), said << " in " << all);
  CHECK(has(all, "train.sh:1:"));
  CHECK(has(refused("--bf16 --position-embedding-type foo"), "is not learned_absolute, rope"));
}

TEST_CASE("switches of Megatron-LM take no value, and one precision") {
  CHECK(has(refused("--bf16 false"), "--bf16 false: this option takes no value"));
  CHECK(has(refused("--bf16 --fp16"), "--fp16 beside --bf16"));
  CHECK(run("--bf16").scenario.training.precision == Precision::bf16);
}

TEST_CASE("numbers of Megatron-LM's options are refused together") {
  const std::string all = refused(
      "--seq-length abc --micro-batch-size -1 --global-batch-size 1.5 --num-layers 0 "
      "--hidden-size nan --group-query-attention --num-query-groups xx --hidden-dropout 5");
  for (const char* said :
       {"--seq-length: 'abc'", "--micro-batch-size: '-1'", "--global-batch-size: '1.5'",
        "--num-layers 0 is not above 0", "--hidden-size: 'nan'", "--num-query-groups: 'xx'",
        "--hidden-dropout '5'"})
    CHECK_MESSAGE(has(all, said), said << " in " << all);
}

TEST_CASE("misspelt options of Megatron-LM are refused with the one that is meant") {
  const std::string all =
      refused("--bf16 --tensor-model-paralel-size 4 --hidden-sise 1 --num-layer 3");
  for (const char* said : {"did you mean '--tensor-model-parallel-size'?",
                           "did you mean '--hidden-size'?", "did you mean '--num-layers'?"})
    CHECK_MESSAGE(has(all, said), said << " in " << all);
  const ImportResult far = run("--bf16 --shared-moe-ffn-hidden-size 4 --foo-bar-of-a-fork 1");
  CHECK(far.says("--shared-moe-ffn-hidden-size 4: not known here, did you mean"));
  CHECK(far.says("--foo-bar-of-a-fork 1: not known here"));
}

TEST_CASE("known options without effect in a run are passed over") {
  const ImportResult r =
      run("--bf16 --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
          "--use-distributed-optimizer --attention-dropout 0.1 --cp-comm-type p2p "
          "--deterministic-mode --moe-router-topk 2");
  CHECK_FALSE(r.says("not known here"));
  CHECK(has(r.text, "dropout: true"));
  CHECK(run("--bf16 --main-grads-dtype bf16").scenario.training.gradients == Precision::bf16);
  CHECK(run("--bf16 --cross-entropy-loss-fusion --cross-entropy-fusion-impl te")
            .scenario.training.cross_entropy == CrossEntropy::transformer_engine);
  const ImportResult linear =
      run("--bf16 --cross-entropy-loss-fusion --cross-entropy-fusion-impl linear");
  CHECK(linear.scenario.training.cross_entropy == CrossEntropy::cut_cross_entropy);
  CHECK(linear.says("cross-entropy-fusion-impl linear"));
}

TEST_CASE("words outside a choice of torchtitan are refused in one pass") {
  const std::string all = refusal_of(
      "run.toml", titan("converters = [\"float9\"]\n[optimizer]\nimplementation = \"foo\"\n"
                        "[training]\nmixed_precision_param = \"foo\"\n"
                        "mixed_precision_reduce = \"float23\"\n[parallelism]\n"
                        "fsdp_reshard_after_forward = \"alway\"\n"
                        "context_parallel_rotate_method = \"foo\"\n"));
  for (const char* said :
       {"model.converters: 'float9'", "optimizer.implementation: \"foo\" is not for-loop",
        "training.mixed_precision_param: \"foo\" is not bfloat16 or float32",
        "did you mean 'float32'?", "did you mean 'always'?", "is not allgather or alltoall"})
    CHECK_MESSAGE(has(all, said), said << " in " << all);
}

TEST_CASE("replicas of torchtitan whose shards are those of a context") {
  const ImportResult r = import_of(
      "run.toml", titan("[training]\nlocal_batch_size = 1\nseq_len = 8192\n[parallelism]\n"
                        "data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = 1\n"
                        "context_parallel_degree = 8\n"));
  CHECK(r.scenario.parallelism.data.sharding == sharding_named("zero3"));
  CHECK(r.says("sharded over all 32 ranks, not over the 8 of a context"));
}

TEST_CASE("torchtitan's steps of accumulation are schedules of their own") {
  const auto of = [](int local) {
    return import_of("run.toml",
                     titan("[training]\nlocal_batch_size = " + std::to_string(local) +
                           "\nglobal_batch_size = 128\n[parallelism]\n"
                           "data_parallel_shard_degree = 4\npipeline_parallel_degree = 2\n"));
  };
  CHECK(
      of(2).says("16 steps of accumulation, each a schedule of 2 micro-batches: one schedule of "
                 "32: 15 fillings"));
  CHECK_FALSE(of(32).says("steps of accumulation"));
}

TEST_CASE("words outside a choice of nanotron are refused") {
  const auto refused_with = [](const std::string& before, const std::string& after) {
    return refusal_of("nano.yaml", with(kNanotron, before, after));
  };
  CHECK(has(refused_with("dtype: bfloat16", "dtype: bfloat"), "did you mean 'bfloat16'?"));
  CHECK(has(refused_with("pp_engine: 1f1b", "pp_engine: foo"), "is not afab or 1f1b"));
  CHECK(has(refused_with("REDUCE_SCATTER", "foo"), "is not ALL_REDUCE or REDUCE_SCATTER"));
  CHECK(has(refused_with("moe_config: null", "moe_config: 7"), "7 is not a map"));
}

TEST_CASE("words outside a choice of TrainingArguments are refused") {
  const auto refused_with = [](const std::string& before, const std::string& after) {
    return refusal_of("trainer.yaml", with(kTrainer, before, after));
  };
  CHECK(has(refused_with("full_shard auto", "ful_shard auto"), "did you mean 'full_shard'?"));
  CHECK(has(refused_with("bf16: true", "bf16: true\nfp16: true"), "fp16: true beside bf16"));
  CHECK(has(refused_with("max_length", "attn_implementation: foo\nmax_length"),
            "is not eager, sdpa"));
}

TEST_CASE("limit_all_gathers of a file of TrainingArguments counts") {
  const auto limits = [](const std::string& value) {
    return import_of("trainer.yaml", kTrainer + "fsdp_config: {limit_all_gathers: " + value + "}\n")
        .scenario.parallelism.data.limit_all_gathers;
  };
  CHECK(limits("true"));
  CHECK_FALSE(limits("false"));
}
