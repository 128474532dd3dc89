// Kinds of launch scripts that frameworks ship: what they ask for, lack, and say in ways of their own.
#include <fmt/format.h>

#include "sim/import/draft.hpp"
#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

/// The least that Megatron-LM needs, with experts.
const std::string kSizes =
    "--num-layers 24 --hidden-size 2048 --num-attention-heads 32 --seq-length 2048 "
    "--max-position-embeddings 2048 --micro-batch-size 1 --vocab-size 50257 --bf16 ";
const std::string kExperts = kSizes +
                             "--num-experts 16 --moe-router-topk 2 --moe-grouped-gemm "
                             "--disable-bias-linear --moe-token-dispatcher-type alltoall ";

ImportOptions behind(const std::vector<std::string>& words) { return {.arguments = words}; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

const Transformer& model_of(const ImportResult& result) {
  return std::get<Transformer>(result.scenario.model.shape);
}

}  // namespace

TEST_CASE("behind a script of any kind stand its arguments and the options that it lacks") {
  const std::string script = "torchrun --nproc_per_node 8 a.py --num-layers $2 --bf16";
  const ImportResult found =
      import_of("train.sh", script,
                behind({"x", "30", "--hidden-size", "1024", "--num-attention-heads=16",
                        "--seq-length", "512", "--micro-batch-size", "2", "--vocab-size", "1000",
                        "--position-embedding-type", "rope"}));
  CHECK(model_of(found).layers == 30);
  CHECK(model_of(found).vocabulary == 1000);
  CHECK(found.scenario.training.micro_batch == 2);
  const std::string config = R"({"train_batch_size": 64})";
  CHECK(refusal_of("ds.json", config, behind({"--modle", "x"})) ==
        "no option '--modle' of import deepspeed, did you mean '--model'?");
  CHECK(refusal_of("ds.json", config, behind({"8B"})) ==
        "one word too many for import deepspeed: '8B'");
}

TEST_CASE("experts with a tensor degree of their own have a mesh of their own") {
  const std::string launch =
      "torchrun --nproc_per_node 8 a.py --tensor-model-parallel-size 4 "
      "--expert-tensor-parallel-size 1 " +
      kExperts + "--sequence-parallel ";
  const ImportResult found = import_of("a.sh", launch + "--expert-model-parallel-size 8");
  const ExpertParallel& expert = found.scenario.parallelism.expert;
  CHECK(found.scenario.cluster.gpus() == 8);
  CHECK(expert.degree == 8);
  CHECK(expert.tensor == 1);
  // As many GPUs as both the split of other layers and that of experts divide.
  const std::string one =
      "python a.py --tensor-model-parallel-size 4 "
      "--expert-tensor-parallel-size 2 " +
      kExperts + "--sequence-parallel --expert-model-parallel-size 8";
  CHECK(import_of("a.sh", one).scenario.cluster.gpus() == 16);
}

TEST_CASE("a word of an option is one word of the scenario") {
  const std::string launch = "torchrun a.py " + kSizes;
  CHECK(first_line(refusal_of("a.sh", launch + "--optimizer 'adam, recompute: full'")) ==
        "a.sh:1:184: --optimizer: 'adam, recompute: full' is not a word");
  CHECK(first_line(refusal_of("a.sh", launch + "--recompute-granularity full "
                                               "--recompute-method 'block, layers: 7'"))
            .ends_with("--recompute-method: 'block, layers: 7' is not a word"));
  const ImportResult noted = import_of("a.sh", launch + "--unheard-of $'a\\nmodel: gpt2'");
  CHECK(model_of(noted).layers == 24);
  Draft draft("t");
  draft.map("training", {"optimizer: adam, recompute: full", "recompute: {kind: full}, bucket: 1",
                         "lr: 1e-5", "layers: [1, 2]"});
  CHECK(draft.text() ==
        "# t\ntraining: {optimizer: \"adam, recompute: full\", recompute: \"{kind: full}, bucket: "
        "1\", lr: 1e-5, layers: [1, 2]}\n");
}

TEST_CASE("a file that decides and is not here is named with the way out") {
  const std::string hosts =
      "N=$(grep -v '^#' $1/hostfile | wc -l)\ntorchrun --nnodes $N --nproc_per_node 8 a.py " +
      kSizes;
  const std::string said = refusal_of("a.sh", hosts, behind({"conf"}));
  CHECK(
      said.starts_with("a.sh:2:19: --nnodes 0 is not between 1 and 1000000, state it behind the "
                       "script: stepsim import FILE --nnodes N\n"));
  CHECK(
      said.ends_with("not here, and read as empty: conf/hostfile, put them there, or state what "
                     "they decide: --env NAME=VALUE, or options behind FILE"));
  CHECK(import_of("a.sh", hosts, behind({"conf", "--nnodes", "3"})).scenario.cluster.nodes == 3);
  const std::string wrapper = "source conf/env.sh\nexport TP=2\nbash run/train.sh --bf16";
  CHECK(first_line(refusal_of("a.sh", wrapper)) ==
        "a.sh:3:6: no Megatron-LM program is started here: what 'run/train.sh' starts is not "
        "known, for it is not here, import that script, with --env NAME=VALUE for what this one "
        "hands to it");
  CHECK(refusal_of("a.sh", "L=$(yq .layers m.yaml)\ntorchrun a.py " + kSizes + "--num-layers $L")
            .ends_with("not run here, and without an answer: yq, state what they print: options "
                       "behind FILE"));
}

TEST_CASE("a condition on what nobody sets is no question where the script runs without it") {
  const std::string script =
      "if [ -z ${CHUNKS} ]; then C=; else C=\"--num-layers $CHUNKS\"; fi\n"
      "torchrun --nproc_per_node 8 a.py " +
      kSizes + "$C";
  const ImportResult found = import_of("a.sh", script);
  CHECK(model_of(found).layers == 24);
  CHECK(found.says("assumed: CHUNKS empty: "));
}

TEST_CASE("Slurm says how many tasks a node has") {
  const ImportResult found =
      import_of("a.sh",
                "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=4\n"
                "#SBATCH --ntasks-per-node=4\nset -eu\n"
                "G=$(echo $SLURM_TASKS_PER_NODE | cut -d '(' -f 1)\n"
                "mpirun -np $((G * SLURM_JOB_NUM_NODES)) --npernode $G python a.py " +
                    kSizes);
  CHECK(found.scenario.cluster.nodes == 2);
  CHECK(found.scenario.cluster.gpus() == 8);
}

TEST_CASE(
    "Megatron-DeepSpeed: ZeRO's stage, embeddings that count as layers, the padded vocabulary") {
  const std::string launch =
      "torchrun --nnodes 4 --nproc_per_node 8 a.py --num-layers 10 --hidden-size 1024 "
      "--num-attention-heads 16 --seq-length 2048 --micro-batch-size 2 --global-batch-size 64 "
      "--bf16 --pad-vocab-size-to 250880 --position-embedding-type alibi --checkpoint-activations "
      "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 "
      "--pp-partition-method 'type:transformer|embedding' "
      "--deepspeed --deepspeed_config ds.json --zero-stage ";
  const ImportResult found = import_of("a.sh", launch + "0");
  CHECK(model_of(found).vocabulary == 250880);
  CHECK(found.scenario.training.recompute == Recompute::full);
  CHECK(found.scenario.parallelism.data.sharding == sharding_named("zero1"));
  CHECK(found.scenario.parallelism.pipeline.layers == std::vector<std::int64_t>{2, 3, 3, 2});
  CHECK(found.text.find("attention: unfused, transformer_impl: local") != std::string::npos);
  CHECK(found.says("--deepspeed-config ds.json: its file is not read"));
  CHECK(import_of("a.sh", launch + "1").scenario.parallelism.data.sharding ==
        sharding_named("zero1"));
}

TEST_CASE("Pai-Megatron-Patch: latent attention by its sizes, experts that all tokens go to") {
  const ImportResult found =
      import_of("a.sh",
                "torchrun --nproc_per_node 8 a.py --kv-lora-rank 512 --qk-nope-head-dim 128 "
                "--qk-rope-head-dim 64 --v-head-dim 128 --qk-layernorm --moe-ffn-hidden-size 1408 "
                "--enable-shared-expert --num-shared-experts 2 " +
                    kExperts);
  REQUIRE(model_of(found).mla);
  CHECK(model_of(found).mla->kv_rank == 512);
  CHECK(model_of(found).mla->rope_dim == 64);
  CHECK(model_of(found).experts->shared_ffn == 2816);
  CHECK_FALSE(found.says("not known here"));
}

TEST_CASE("FlagScale: the width of an MLP by a factor and a multiple") {
  const ImportResult found =
      import_of("a.sh",
                "torchrun a.py --swiglu --apply-layernorm-rms --use-rotary-position-embeddings "
                "--multiple-of 4096 --hidden-dim-multiplier 1.3 " +
                    kSizes + "--hidden-size 8192 --num-attention-heads 64");
  CHECK(model_of(found).ffn == 28672);
  CHECK(model_of(found).rms_norm);
  CHECK_FALSE(found.says("not known here"));
}

TEST_CASE("slime: the GPUs of its training processes, and samples that are packed") {
  const std::string launch =
      "ray start --head --num-gpus 8\nray job submit --address=http://127.0.0.1:8265 "
      "-- python3 train.py --actor-num-nodes 2 --actor-num-gpus-per-node 4 --num-layers 24 "
      "--hidden-size 2048 --num-attention-heads 32 --vocab-size 50257 "
      "--position-embedding-type rope --rollout-batch-size 32 --n-samples-per-prompt 8 "
      "--global-batch-size 256 --use-dynamic-batch-size --max-tokens-per-gpu 9216";
  CHECK(first_line(refusal_of("a.sh", launch))
            .ends_with("samples are packed until a pass has --max-tokens-per-gpu 9216: how long "
                       "they are is not stated, state the mean, and how many fit: --seq-length N "
                       "--micro-batch-size N"));
  const ImportResult found =
      import_of("a.sh", launch, behind({"--seq-length", "4608", "--micro-batch-size", "2"}));
  CHECK(found.scenario.cluster.nodes == 2);
  CHECK(found.scenario.cluster.gpus() == 8);
  CHECK(found.scenario.training.global_batch == 256);
  CHECK(found.scenario.training.precision == Precision::bf16);
  CHECK(found.scenario.parallelism.data.sharding == sharding_named("zero1"));
  CHECK(found.says("--rollout-batch-size 32: a step of training alone"));
  CHECK_FALSE(found.says("not known here"));
}

TEST_CASE("of many variables that nobody sets those that matter are found") {
  std::string script = "#!/bin/bash\n";
  for (int i = 0; i < 40; ++i) script += fmt::format("V{}=${{V{}:-{}}}\n", i, i, i + 1);
  script += "torchrun --nproc_per_node 8 a.py " + kSizes + "--num-layers $V11 --seed $V12 ";
  for (int i = 13; i < 30; ++i) script += fmt::format("--wandb-{} $V{} ", i, i);
  const ImportResult found = import_of("a.sh", script + "--global-batch-size $((8 * V35))");
  CHECK(found.says("assumed: V11 12: "));
  CHECK(found.says("assumed: V35 36: "));
  for (const int other : {0, 12, 20, 39})
    CHECK_FALSE(found.says(fmt::format("assumed: V{} ", other)));
}
