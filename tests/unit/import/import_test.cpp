// Imports: what a command line or a configuration says is what the written scenario reads as.
#include <iomanip>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/core/shell_word.hpp"
#include "sim/core/system/files_read.hpp"
#include "sim/import/megatron/layer_pattern.hpp"
#include "tests/unit/import/imported.hpp"

using namespace stepsim;

namespace {

/// Words between spaces; quotes hold several.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream text(line);
  for (std::string word; text >> std::quoted(word, '\'');) words.push_back(word);
  return words;
}

ImportOptions megatron(const std::string& line) {
  return {.from = "megatron", .arguments = words_of(line)};
}
Scenario of_megatron(const std::string& line) { return imported(megatron(kGpt + line)).scenario; }

Imported of_deepspeed(const std::string& json, int nodes = 0) {
  const File file("ds.json", json);
  return imported({.from = "deepspeed",
                   .file = file.path(),
                   .model = "llama2-7b",
                   .sequence_length = 2048,
                   .nodes = nodes});
}
std::string deepspeed_error(const std::string& json, int nodes = 0) {
  const File file("ds.json", json);
  const std::string error = error_of({.from = "deepspeed", .file = file.path(), .nodes = nodes});
  return error.starts_with(file.path()) ? error.substr(file.path().size()) : error;
}

}  // namespace

TEST_CASE("what a shell would read otherwise stands in quotes") {
  CHECK(shell_word("runs/a-1.yaml") == "runs/a-1.yaml");
  CHECK(shell_word("run.seed=2,3") == "run.seed=2,3");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("it's") == "'it'\\''s'");
  for (const char special : std::string("`#!\t\n ~{}[]*?$&|;<>()\"\\^")) {
    const std::string word = std::string("a") + special + "b";
    CAPTURE(word);
    CHECK(shell_word(word) == "'" + word + "'");
  }
}

TEST_CASE("the least that Megatron-LM needs is a GPT in fp32 on one node") {
  const Scenario s = of_megatron("");
  CHECK(s.framework == Framework::megatron);
  const auto& model = std::get<Transformer>(s.model.shape);
  CHECK(model.layers == 24);
  CHECK(model.ffn == 4 * 2048);
  CHECK(model.positions == 2048);
  CHECK(model.tied_embeddings);
  CHECK(s.cluster.gpus() == 8);
  CHECK(s.training.global_batch == 4 * 8);
  CHECK(s.training.precision == Precision::fp32);
  CHECK_FALSE(s.parallelism.data.overlap);
  CHECK(s.parallelism.data.bucket.bytes() == 40e6 * 4);
}

TEST_CASE("a Llama is one by its options") {
  const auto model = std::get<Transformer>(
      of_megatron("--swiglu --normalization RMSNorm --disable-bias-linear "
                  "--group-query-attention --num-query-groups 8 --position-embedding-type rope "
                  "--untie-embeddings-and-output-weights --hidden-dropout 0 "
                  "--attention-dropout 0.0 --kv-channels 128")
          .model.shape);
  CHECK(model.gated_mlp);
  CHECK(model.ffn == 5440);  // 8/3 h in multiples of 64
  CHECK(model.rms_norm);
  CHECK_FALSE(model.bias);
  CHECK(model.kv_heads == 8);
  CHECK(model.head_dim == 128);
  CHECK(model.positions == 0);
  CHECK_FALSE(model.tied_embeddings);
  CHECK_FALSE(model.dropout);
}

TEST_CASE("gradients are fp32 beside bf16, and a bucket of parameters has their bytes") {
  const auto gradients = [](const std::string& line) {
    return of_megatron(line).training.gradients;
  };
  CHECK(gradients("--bf16") == Precision::fp32);
  CHECK(gradients("--bf16 --grad-reduce-in-bf16") == Precision::bf16);
  CHECK(gradients("--fp16") == Precision::fp16);
  CHECK(gradients("--fp16 --accumulate-allreduce-grads-in-fp32") == Precision::fp32);
  const std::string fsdp = "--bf16 --use-megatron-fsdp --megatron-fsdp-grad-comm-dtype bf16 ";
  const auto sharded = [&](const std::string& strategy) {
    return of_megatron(fsdp + "--data-parallel-sharding-strategy " + strategy);
  };
  CHECK(sharded("optim_grads_params").training.gradients == Precision::bf16);
  CHECK(sharded("optim_grads").training.gradients == Precision::fp32);
  CHECK(sharded("optim_grads").parallelism.data.reduce_dtype == Precision::bf16);
  const auto bucket = [](const std::string& line) {
    return of_megatron("--overlap-grad-reduce --ddp-bucket-size 1000000 " + line)
        .parallelism.data.bucket.bytes();
  };
  CHECK(bucket("--bf16") == 4e6);
  CHECK(bucket("--fp16") == 2e6);
}

TEST_CASE("the split, the virtual stages and the switches arrive") {
  const Scenario s = of_megatron(
      "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 4 --sequence-parallel "
      "--num-layers-per-virtual-pipeline-stage 3 --use-distributed-optimizer --bf16 "
      "--overlap-grad-reduce --global-batch-size 64 --recompute-activations --clip-grad 0");
  CHECK(s.cluster.gpus() == 16);
  CHECK(s.parallelism.tensor == 4);
  CHECK(s.parallelism.sequence);
  CHECK(s.parallelism.pipeline.stages == 4);
  CHECK(s.parallelism.pipeline.chunks == 2);
  CHECK(s.parallelism.pipeline.schedule == "interleaved");
  CHECK(s.parallelism.pipeline.overlap_p2p);
  CHECK(s.parallelism.data.sharding == sharding_named("zero1"));
  CHECK(s.parallelism.data.overlap);
  CHECK(s.training.recompute == Recompute::selective);
  CHECK_FALSE(s.training.gradient_clipping);
  CHECK_FALSE(of_megatron("--pipeline-model-parallel-size 4 --global-batch-size 64 "
                          "--num-virtual-stages-per-pipeline-rank 2 "
                          "--no-overlap-p2p-communication")
                  .parallelism.pipeline.overlap_p2p);
}

TEST_CASE("the order of ranks and the instances of the distributed optimizer arrive") {
  const Scenario s = of_megatron(
      "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --nnodes 2 "
      "--use-tp-pp-dp-mapping --use-distributed-optimizer --global-batch-size 64 "
      "--num-distributed-optimizer-instances 2");
  const std::vector<Axis> order{Axis::tensor, Axis::context, Axis::expert, Axis::pipeline,
                                Axis::data};
  CHECK(s.parallelism.order.axes == order);
  CHECK(s.parallelism.data.shard_degree == 2);
  CHECK(of_megatron("").parallelism.order == RankOrder{});
  CHECK_FALSE(of_megatron("--use-distributed-optimizer").parallelism.data.shard_degree);
  CHECK(error_of(megatron(kGpt + "--use-distributed-optimizer "
                                 "--num-distributed-optimizer-instances 3")) ==
        "--num-distributed-optimizer-instances 3 does not divide 8 data-parallel ranks");
}

TEST_CASE("experts and how they are split arrive, with Megatron-LM's defaults") {
  const std::string experts = kGpt + "--num-experts 8 --disable-bias-linear --moe-grouped-gemm ";
  const Scenario least = imported(megatron(experts)).scenario;
  CHECK(std::get<Transformer>(least.model.shape).experts ==
        Experts{.count = 8, .top_k = 2, .ffn = 8192});
  const Imported most = imported(megatron(
      experts +
      "--moe-router-topk 4 --moe-ffn-hidden-size 1024 --moe-shared-expert-intermediate-size 512 "
      "--moe-layer-freq '([0]*3+[1]*21)' --moe-token-dispatcher-type alltoall "
      "--expert-model-parallel-size 4 --tensor-model-parallel-size 2 --sequence-parallel "
      "--expert-tensor-parallel-size 2 --moe-expert-capacity-factor 1.25 "
      "--moe-pad-expert-input-to-capacity --moe-router-load-balancing-type aux_loss "
      "--moe-aux-loss-coeff 1e-2 --moe-router-dtype fp32 --moe-permute-fusion"));
  CHECK(std::get<Transformer>(most.scenario.model.shape).experts ==
        Experts{.count = 8, .top_k = 4, .ffn = 1024, .shared_ffn = 512, .dense_layers = 3});
  CHECK(most.scenario.cluster.gpus() == 8);
  CHECK(most.scenario.parallelism.expert.degree == 4);
  CHECK(most.scenario.parallelism.expert.capacity == 1.25);
  CHECK(most.notes.empty());
}

TEST_CASE("dispatchers and pairs of passes arrive where Megatron-LM has them") {
  const auto expert = [](const std::string& line) {
    return imported(megatron(kGpt +
                             "--num-experts 8 --disable-bias-linear --moe-grouped-gemm "
                             "--expert-model-parallel-size 4 " +
                             line))
        .scenario.parallelism.expert;
  };
  // Without options that fuse them, routers and permutations are operators of PyTorch.
  const auto unfused = [](ExpertParallel split) {
    split.router_fusion = split.permute_fusion = false;
    return split;
  };
  const std::string deepep = "--moe-token-dispatcher-type flex --moe-enable-deepep ";
  CHECK(expert(deepep) == unfused({.degree = 4, .dispatcher = Dispatcher::deepep}));
  CHECK(expert(deepep + "--moe-deepep-num-sms 24 --overlap-moe-expert-parallel-comm") ==
        unfused({.degree = 4, .dispatcher = Dispatcher::deepep, .sms = 24, .overlap = true}));
  CHECK(expert("--moe-token-dispatcher-type alltoall") == unfused({.degree = 4}));
  const ExpertParallel fused = expert(
      "--moe-router-fusion --moe-permute-fusion --moe-use-grouped-tensor "
      "--moe-router-padding-for-fp8 --moe-token-dispatcher-type alltoall --fp8-format hybrid");
  CHECK(fused == ExpertParallel{.degree = 4, .router_padding = true, .grouped_kernel = true});
  CHECK(expert("").dispatcher == Dispatcher::all_gather);
  CHECK_FALSE(
      expert("--moe-router-padding-for-fp8 --moe-token-dispatcher-type alltoall").router_padding);
  CHECK_FALSE(expert("--moe-router-padding-for-quantization --fp8-format hybrid "
                     "--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep")
                  .router_padding);
  const std::string hybrid =
      "--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep ";
  // HybridEP's kernels permute by themselves.
  CHECK(expert(hybrid) ==
        ExpertParallel{.degree = 4, .dispatcher = Dispatcher::hybrid_ep, .router_fusion = false});
  CHECK(expert(hybrid + "--moe-hybridep-num-sms 32").sms == 32);
}

TEST_CASE("a hybrid arrives by its pattern, and Megatron-LM's own specification of it is no note") {
  const Imported hybrid =
      imported(megatron(
          kGpt + "--hybrid-override-pattern M-M-M-M*-M-M-M-M-M*-M-M- "
                 "--spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec "
                 "--position-embedding-type none --normalization RMSNorm --disable-bias-linear"));
  const auto& model = std::get<Transformer>(hybrid.scenario.model.shape);
  REQUIRE(model.hybrid);
  CHECK(model.hybrid->pattern == "M-M-M-M*-M-M-M-M-M*-M-M-");
  CHECK(hybrid.notes.empty());
}

TEST_CASE("packed sequences of Megatron-LM are whole documents") {
  CHECK(imported(megatron(kGpt + "--sft"))
            .assumed.find("documents one a sequence: --sft: tokens attend") != std::string::npos);
  CHECK(imported(megatron(kGpt)).assumed.find("documents") == std::string::npos);
}

TEST_CASE("a pattern has its layers, whatever --num-layers says") {
  const std::string line =
      "--hybrid-layer-pattern M-M*M- --disable-bias-linear --pipeline-model-parallel-size 2 "
      "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split ";
  const Imported hybrid = imported(megatron(kGpt + line));
  CHECK(std::get<Transformer>(hybrid.scenario.model.shape).layers == 6);
  CHECK(hybrid.notes.find("--num-layers 24: Megatron-LM passes it over beside a pattern, which has "
                          "6 layers") != std::string::npos);
  CHECK(hybrid.scenario.parallelism.pipeline.layers == std::vector<std::int64_t>{3, 3});
}

TEST_CASE("latent attention arrives, with Megatron-LM's defaults") {
  const auto latent = [](const std::string& line) {
    return *std::get<Transformer>(
                of_megatron("--multi-latent-attention --qk-layernorm " + line).model.shape)
                .mla;
  };
  CHECK(latent("") ==
        LatentAttention{.kv_rank = 32, .nope_dim = 128, .rope_dim = 64, .value_dim = 128});
  CHECK(latent("--q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 96 --qk-pos-emb-head-dim 32 "
               "--v-head-dim 64") == LatentAttention{1536, 512, 96, 32, 64});
}

TEST_CASE("DeepSeek-V3's command line is the model of models/") {
  const Scenario s =
      imported(
          megatron("--num-layers 61 --hidden-size 7168 --num-attention-heads 128 --seq-length 4096 "
                   "--max-position-embeddings 4096 --micro-batch-size 1 --vocab-size 129280 "
                   "--ffn-hidden-size 18432 --swiglu --normalization RMSNorm --disable-bias-linear "
                   "--position-embedding-type rope --untie-embeddings-and-output-weights "
                   "--hidden-dropout 0 --attention-dropout 0 --multi-latent-attention "
                   "--qk-layernorm --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 "
                   "--qk-pos-emb-head-dim 64 --v-head-dim 128 --num-experts 256 "
                   "--moe-layer-freq '([0]*3+[1]*58)' --moe-ffn-hidden-size 2048 "
                   "--moe-shared-expert-intermediate-size 2048 --moe-router-topk 8 "
                   "--moe-router-num-groups 8 --moe-router-group-topk 4 "
                   "--expert-model-parallel-size 64 --pipeline-model-parallel-size 16 "
                   "--decoder-first-pipeline-num-layers 3 --decoder-last-pipeline-num-layers 2"))
          .scenario;
  CHECK(std::get<Transformer>(s.model.shape) ==
        std::get<Transformer>(load_model("deepseek-v3", Library{{source_folder()}}).shape));
  CHECK(s.cluster.gpus() == 16 * 64);
  CHECK(s.parallelism.pipeline.layers ==
        std::vector<std::int64_t>{3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2});
}

TEST_CASE("context parallelism arrives by its kind") {
  const auto context = [](const std::string& line) {
    return imported(megatron(kGpt + "--context-parallel-size 2 --bf16 " + line));
  };
  CHECK(context("").scenario.parallelism.context == ContextParallel{2, ContextKind::ring});
  CHECK(context("--cp-comm-type a2a").scenario.parallelism.context.kind == ContextKind::all_to_all);
  CHECK(context("--cp-comm-type all_gather all_gather").notes.empty());
  CHECK(context("--cp-comm-type a2a p2p").notes ==
        "not simulated as stated: --cp-comm-type a2a p2p: all layers have context parallel kind "
        "all_to_all\n");
}

TEST_CASE("embedding and head that count as layers make their stages shorter") {
  const Scenario s = of_megatron(
      "--num-layers 30 --account-for-embedding-in-pipeline-split "
      "--account-for-loss-in-pipeline-split --pipeline-model-parallel-size 4 "
      "--num-virtual-stages-per-pipeline-rank 2 --global-batch-size 64");
  CHECK(s.parallelism.pipeline.layers == std::vector<std::int64_t>{3, 4, 4, 4, 4, 4, 4, 3});
  CHECK(error_of(megatron(kGpt + "--pipeline-model-parallel-size 4 "
                                 "--decoder-first-pipeline-num-layers 5")) ==
        "19 layers do not divide among 3 stages");
}

TEST_CASE("recompute arrives with its method, its layers and its modules") {
  const auto of = [](const std::string& line) {
    const Imported found = imported(megatron(kGpt + "--recompute-granularity " + line));
    CHECK(found.notes.empty());
    return found.scenario.training.recompute;
  };
  const Recomputation block = of("full --recompute-method block --recompute-num-layers 3");
  CHECK(block.kind == Recompute::full);
  CHECK(block.method == RecomputeMethod::block);
  CHECK(block.layers == 3);
  CHECK(of("full --recompute-method uniform --recompute-num-layers 1") == Recompute::full);
  using M = RecomputeModule;
  CHECK(of("selective") == Recompute::selective);
  CHECK(of("selective --recompute-modules mlp core_attn layernorm").modules ==
        std::vector{M::mlp, M::core_attention, M::layernorm});
}

TEST_CASE("patterns of layers are sums and multiples of lists") {
  using Layers = std::vector<int>;
  CHECK(layer_pattern("[0]*2+[1]*3") == Layers{0, 0, 1, 1, 1});
  CHECK(layer_pattern("([0, 1] * 2 + [1])") == Layers{0, 1, 0, 1, 1});
  CHECK(layer_pattern("([0]+[1])*2") == Layers{0, 1, 0, 1});
  for (const char* wrong : {"", "1", "[0]*", "[2]", "[0]+", "([0]", "[0])", "[0]*99999999999"})
    CHECK_FALSE(layer_pattern(wrong));
}

TEST_CASE("gathers beside forward passes, averages of NCCL and looks at gradients are mapped") {
  const DataParallel plain = imported(megatron(kGpt)).scenario.parallelism.data;
  CHECK_FALSE(plain.overlap_param_gather);
  CHECK(plain.check_for_nan_in_grad);
  CHECK(plain.averaging == Averaging::bucket);
  const std::string gathers =
      "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather "
      "--align-param-gather --ddp-average-in-collective --no-check-for-nan-in-loss-and-grad ";
  const DataParallel stated = of_megatron(gathers).parallelism.data;
  CHECK(stated.overlap_param_gather);
  CHECK_FALSE(stated.align_param_gather);
  CHECK_FALSE(stated.check_for_nan_in_grad);
  CHECK(stated.averaging == Averaging::collective);
  const std::string chunks =
      "--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 --nnodes 4 "
      "--global-batch-size 128";
  CHECK(of_megatron(gathers + chunks).parallelism.data.align_param_gather);
}

TEST_CASE("options about gathers that Megatron-LM has not are not mapped") {
  CHECK_FALSE(of_megatron("--align-param-gather").parallelism.data.align_param_gather);
  const DataParallel fsdp =
      of_megatron(
          "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
          "--overlap-grad-reduce --overlap-param-gather --align-param-gather")
          .parallelism.data;
  CHECK(fsdp.sharding == sharding_named("zero3"));
  CHECK_FALSE(fsdp.overlap_param_gather);
}

TEST_CASE("what cannot be mapped stands in the file and among the notes, the rest does not") {
  const Imported result = imported(megatron(
      kGpt + "--overlap-param-gather-with-optimizer-step --lr 1e-4 --save x --an-option 7 --bf16"));
  CHECK(result.notes ==
        "not simulated as stated: --an-option 7: not known here\n"
        "not simulated as stated: --overlap-param-gather-with-optimizer-step: parameters are "
        "gathered "
        "when all are updated\n");
  CHECK(result.text.find("#   --an-option 7: not known here\n") != std::string::npos);
  CHECK(imported(megatron(kGpt)).notes.empty());
}

TEST_CASE("command lines that would give another model or split are refused") {
  CHECK(error_of(megatron(kGpt + "--encoder-num-layers 8")) ==
        "--encoder-num-layers 8: such a model cannot be imported");
  CHECK(error_of(megatron(kGpt + "--num-experts 8 --moe-layer-freq 2")) ==
        "--moe-layer-freq 2: dense layers cannot stand between those with experts");
  CHECK(error_of(megatron(kGpt + "--num-experts 8 --moe-layer-freq '([0]*3+[1]*20)'")) ==
        "--moe-layer-freq ([0]*3+[1]*20) is of 23 layers, but there are 24");
  CHECK(error_of(megatron(kGpt + "--expert-model-parallel-size 8")) ==
        "--expert-model-parallel-size 8 without --num-experts");
  CHECK(error_of(megatron(kGpt + "--context-parallel-size 0")) ==
        "--context-parallel-size 0 is not between 1 and 10000");
  CHECK(error_of(megatron("--num-layers 24")) ==
        "--hidden-size is missing\n--num-attention-heads is missing\n--seq-length is missing\n"
        "--micro-batch-size is missing");
  CHECK(error_of(megatron(kGpt + "--num-layers x")) == "--num-layers: 'x' is not a whole number");
  CHECK(error_of(megatron(kGpt + "--num-layers 1e400")) ==
        "--num-layers: '1e400' is not a whole number");
  CHECK(error_of(megatron(kGpt + "--seq-length " + std::string(100'000, '9'))).size() < 200);
  CHECK(error_of(megatron(kGpt + "--clip-grad 1e400")) == "none");
  CHECK(error_of(megatron(kGpt + "--num-layers 0")) == "--num-layers 0 is not above 0");
  CHECK(error_of(megatron(kGpt + "--nproc_per_node 0")) ==
        "--nproc-per-node 0 is not between 1 and 1000");
  CHECK(error_of(megatron(kGpt + "--nnodes 0")) == "--nnodes 0 is not between 1 and 1000000");
  CHECK(error_of(megatron(kGpt + "--ddp-bucket-size 0")) == "--ddp-bucket-size 0 is not above 0");
  CHECK(error_of(megatron(kGpt + "--num-experts 4 --moe-router-topk 8")) ==
        "--moe-router-topk 8 is above --num-experts 4");
  CHECK(error_of(megatron(kGpt + "--global-batch-size 33")) ==
        "--global-batch-size 33 is not a whole number of --micro-batch-size 4 x 8 data-parallel "
        "ranks");
  CHECK(error_of(megatron("--num-layers 24 --hidden-size 64 --num-attention-heads 4 "
                          "--seq-length 64 --micro-batch-size 1 --tokenizer-type TikTokenizer")) ==
        "the vocabulary is that of tokenizer 'TikTokenizer', which is not known here: add "
        "--vocab-size N");
  // What the importer lets pass, the scenario's own checks do not.
  const std::string split = error_of(megatron(kGpt + "--tensor-model-parallel-size 3"));
  CHECK(split.starts_with("the scenario made from the command line: "));
  CHECK(split.find("does not divide") != std::string::npos);
  CHECK(split.find("scenario.yaml") == std::string::npos);
}

TEST_CASE("DeepSpeed's buckets count elements, and floats are numbers") {
  const Scenario s = of_deepspeed(R"({"train_micro_batch_size_per_gpu": 2,
      "gradient_accumulation_steps": 4, "bf16": {"enabled": true}, "gradient_clipping": 1.0,
      "zero_optimization": {"stage": 2, "reduce_bucket_size": 2e8, "overlap_comm": true}})")
                         .scenario;
  CHECK(s.framework == Framework::deepspeed);
  CHECK(s.training.global_batch == 2 * 4 * 8);
  CHECK(s.training.precision == Precision::bf16);
  CHECK(s.training.gradient_clipping);
  CHECK(s.parallelism.data.sharding == sharding_named("zero2"));
  CHECK(s.parallelism.data.bucket.bytes() == 2e8 * 2);
  CHECK(s.parallelism.data.overlap);
  CHECK_FALSE(s.parallelism.data.no_sync);
}

TEST_CASE("what stands in for what DeepSpeed's file cannot say is named") {
  const File file("ds.json", R"({"train_batch_size": 8})");
  const Imported result = imported({.from = "deepspeed", .file = file.path()});
  CHECK(result.scenario.model.name == "llama2-7b");
  CHECK(
      result.assumed.find("model llama2-7b: the file does not name one (state it: --model NAME)") !=
      std::string::npos);
}

TEST_CASE("linear layers are Transformer Engine's unless the line says local") {
  CHECK(of_megatron("").training.transformer_impl == TransformerImpl::transformer_engine);
  CHECK(of_megatron("--transformer-impl local").training.transformer_impl ==
        TransformerImpl::local);
}

TEST_CASE("no experts are a dense model") {
  CHECK_FALSE(
      std::get<Transformer>(of_megatron("--num-experts 0").model.shape).experts.has_value());
}

TEST_CASE("what DeepSpeed's file does not say is DeepSpeed's default") {
  const Scenario s = of_deepspeed(R"({"train_batch_size": 8,
      "zero_optimization": {"stage": 3}})")
                         .scenario;
  CHECK(s.training.precision == Precision::fp32);
  CHECK(s.training.gradient_clipping);  // since 0.19.3
  CHECK(s.parallelism.data.sharding == sharding_named("zero3"));
  CHECK(s.parallelism.data.overlap);  // overlap_comm where it is not set
  CHECK(s.parallelism.data.persistence_threshold == 100'000);
  CHECK(of_deepspeed(R"({"train_batch_size": 8, "zero_optimization": {"stage": 3,
      "stage3_param_persistence_threshold": 0}})")
            .scenario.parallelism.data.persistence_threshold == 0);
}

TEST_CASE("three batch sizes say how many GPUs there are, and four must fit together") {
  const std::string all = R"({"train_batch_size": 256, "train_micro_batch_size_per_gpu": 4,
      "gradient_accumulation_steps": 2})";
  CHECK(of_deepspeed(all).scenario.cluster.gpus() == 32);
  CHECK(deepspeed_error(all, 3) ==
        ":1:22: train_batch_size 256 is not train_micro_batch_size_per_gpu 4 x "
        "gradient_accumulation_steps 2 x 24 data-parallel ranks\n"
        "  {\"train_batch_size\": 256, \"train_micro_batch_size_per_gpu\": 4,\n"
        "                       ^");
  CHECK(of_deepspeed(R"({"train_batch_size": 2, "train_micro_batch_size_per_gpu": 1,
      "gradient_accumulation_steps": 1})")
            .scenario.cluster.gpus() == 2);
}

TEST_CASE("mistakes in DeepSpeed's file have their place, all of them") {
  const auto first_line = [](const std::string& json) {
    const std::string error = deepspeed_error(json);
    return error.substr(0, error.find('\n'));
  };
  CHECK(first_line("{\n  \"train_batch_size\": 8,\n}").starts_with(":3:1: this is no JSON: "));
  CHECK(first_line("[]") == ":1:1: a DeepSpeed configuration is an object");
  CHECK(first_line("{}") ==
        ":1:1: neither train_batch_size nor train_micro_batch_size_per_gpu is stated");
  CHECK(deepspeed_error(R"({"train_batch_size": "many"})") ==
        ":1:22: train_batch_size: \"many\" is not a number\n"
        "  {\"train_batch_size\": \"many\"}\n"
        "                       ^");
  CHECK(first_line(R"({"train_batch_size": 8, "zero_optimization": {"stage": 4}})") ==
        ":1:56: zero_optimization.stage: 4 is not 0, 1, 2 or 3");
  CHECK(first_line(R"({"train_batch_size": 8, "x": 1e400})") ==
        ":1:30: '1e400' is too large for a number");
  CHECK(first_line(R"({"train_batch_size": 8, "train_batch_size": 16})") ==
        ":1:25: 'train_batch_size' is there twice");
  CHECK(first_line("{\"x\": \"" + std::string(1 << 20, 'x') + "\"}") ==
        ": the file is larger than 1 MiB: this is no DeepSpeed configuration");
  for (const char* key :
       {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"}) {
    CAPTURE(key);
    CHECK(first_line(fmt::format("{{\"{}\": 0}}", key))
              .ends_with("0 is not a whole number from 1 to 1e12"));
  }
  CHECK(first_line(R"({"train_batch_size": 8, "optimizer": {"type": "SGD",
                       "params": {"momentum": "high"}}})")
            .ends_with("optimizer.params.momentum: \"high\" is not a number"));
  CHECK(first_line(R"({"train_batch_size": 8, "communication_data_type": "int8"})") ==
        ":1:52: communication_data_type: \"int8\" is not fp32, fp16 or bf16");
  const std::string all = deepspeed_error(
      "{\"train_batch_size\": -1,\n\"bf16\": true, \"zero_optimization\": 3,\n"
      "\"fp16\": [], \"gradient_clipping\": \"yes\"}");
  for (const char* said : {":1:22: train_batch_size: -1 is not a whole number from 1 to 1e12\n",
                           ":2:9: bf16: true is not an object, write {\"enabled\": true}\n",
                           ":2:36: zero_optimization: 3 is not an object, write {\"stage\": 3}\n",
                           ":3:9: fp16: [...] is not an object\n",
                           ":3:34: gradient_clipping: \"yes\" is not a number\n"}) {
    CAPTURE(said);
    CAPTURE(all);
    CHECK(all.find(said) != std::string::npos);
  }
}

TEST_CASE("DeepSpeed's options without a counterpart are noted, its defaults are not") {
  const auto notes = [](const std::string& zero) {
    return of_deepspeed(
               R"({"train_batch_size": 8, "scheduler": {}, "zero_optimization": {"stage": 3, )" +
               zero + "}}")
        .notes;
  };
  CHECK(notes(R"("reduce_scatter": true, "zero_hpz_partition_size": 1, "sub_group_size": 1e9,
      "offload_param": {"device": "none"})")
            .empty());
  CHECK(notes(R"("offload_param": {"device": "cpu"})") ==
        "not simulated as stated: zero_optimization.offload_param: parameters stay on the GPU\n");
  CHECK(notes(R"("a_new_key": 1)") ==
        "not simulated as stated: zero_optimization.a_new_key: not known here\n");
}

TEST_CASE("DeepSpeed's offloaded optimizer is the CPU's") {
  const auto of = [](const std::string& offload, int stage = 2) {
    return of_deepspeed(R"({"train_batch_size": 8, "zero_optimization": {"stage": )" +
                        std::to_string(stage) + R"(, "offload_optimizer": )" + offload + "}}");
  };
  CHECK(of(R"({"device": "cpu", "pin_memory": true})").scenario.parallelism.data.offload_optimizer);
  CHECK(of(R"({"device": "cpu"})").notes.empty());
  for (const char* none :
       {R"({"device": "none"})", R"({"device": null})", "{}", "null", "\"auto\""}) {
    CAPTURE(none);
    CHECK_FALSE(of(none).scenario.parallelism.data.offload_optimizer);
    CHECK(of(none).notes.empty());
  }
  const Imported disk = of(R"({"device": "nvme", "ratio": 0.5})");
  CHECK(disk.scenario.parallelism.data.offload_optimizer);
  CHECK(disk.notes ==
        "not simulated as stated: zero_optimization.offload_optimizer.device nvme: the "
        "optimizer's state is in the CPU's memory\n"
        "not simulated as stated: zero_optimization.offload_optimizer.ratio 0.5: all of it is on "
        "the CPU\n");
  const Imported without = of(R"({"device": "cpu"})", 0);
  CHECK_FALSE(without.scenario.parallelism.data.offload_optimizer);
  CHECK(without.notes ==
        "not simulated as stated: zero_optimization.offload_optimizer: stage 0 offloads nothing\n");
  CHECK(deepspeed_error(R"({"train_batch_size": 8, "zero_optimization": {"stage": 2,
      "offload_optimizer": {"device": "disk"}}})")
            .starts_with(":2:39: zero_optimization.offload_optimizer.device: \"disk\" is not none, "
                         "cpu or nvme\n"));
}

TEST_CASE("MiCS shards over so many neighbouring ranks") {
  const auto of = [](const std::string& size, int stage = 3) {
    return of_deepspeed(R"({"train_batch_size": 16, "zero_optimization": {"stage": )" +
                            std::to_string(stage) + R"(, "mics_shard_size": )" + size + "}}",
                        2);
  };
  CHECK(of("8").scenario.parallelism.data.shard_degree == 8);
  CHECK(of("8").notes.empty());
  CHECK_FALSE(of("-1").scenario.parallelism.data.shard_degree);
  CHECK(of("-1").notes.empty());
  CHECK(of("8", 2).notes ==
        "not simulated as stated: zero_optimization.mics_shard_size: only stage 3 has it\n");
  CHECK(of("1").notes ==
        "not simulated as stated: zero_optimization.mics_shard_size 1: parameters are sharded over "
        "all ranks\n");
  CHECK(deepspeed_error(R"({"train_batch_size": 16, "zero_optimization": {"stage": 3,
      "mics_shard_size": 6}})",
                        2)
            .starts_with(":2:26: zero_optimization.mics_shard_size: 6 does not divide 16 "
                         "data-parallel ranks\n"));
}

TEST_CASE("an import that is written to a file reads back from it") {
  const File target("imported.yaml", "");
  forget_reads();  // the system may have given it the place of a file that was read, and removed
  ImportOptions options = megatron(kGpt);
  options.output = target.path();
  std::ostringstream out, notes;
  CHECK(import(options, out, notes) == ExitCode::ok);
  CHECK(load_scenario(target.path()).cluster.gpus() == 8);
}
