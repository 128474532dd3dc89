// Launch scripts: what bash makes of one is what the scenario says.
#include <fmt/format.h>

#include "tests/unit/import/imported.hpp"

using namespace stepsim;

namespace {

/// A script in a folder of its own, and the files beside it.
class Script {
 public:
  explicit Script(const std::string& text) : path_(folder_.file("train.sh", text + "\n")) {}
  const Script& with(const std::string& name, const std::string& text) const {
    (void)folder_.file(name, text + "\n");
    return *this;
  }
  ImportOptions options(const std::vector<std::string>& environment = {}) const {
    return {.from = "megatron", .file = path_, .environment = environment};
  }
  /// The folder stands out of the way.
  std::string plain(std::string text) const {
    for (std::size_t at; (at = text.find(path_)) != std::string::npos;)
      text.replace(at, path_.size(), "train.sh");
    return text;
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

Imported of_script(const Script& script, const std::vector<std::string>& environment = {}) {
  Imported result = imported(script.options(environment));
  result.assumed = script.plain(result.assumed);
  result.notes = script.plain(result.notes);
  return result;
}
Imported of_script(const std::string& text, const std::vector<std::string>& environment = {}) {
  return of_script(Script(text), environment);
}
std::string script_error(const Script& script, const std::vector<std::string>& environment = {}) {
  return script.plain(error_of(script.options(environment)));
}
std::string script_error(const std::string& text,
                         const std::vector<std::string>& environment = {}) {
  return script_error(Script(text), environment);
}
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

const std::string kLaunch = "torchrun --nproc_per_node 8 pretrain_gpt.py --bf16 " + kGpt;

std::int64_t layers_of(const std::string& text) {
  return std::get<Transformer>(of_script(text).scenario.model.shape).layers;
}

}  // namespace

TEST_CASE("a script says how many nodes there are, an option wins over it") {
  const Script script("NNODES=4\ntorchrun --nnodes $NNODES --nproc_per_node 8 x.py \\\n  " + kGpt);
  ImportOptions options = script.options();
  CHECK(imported(options).scenario.cluster.nodes == 4);
  options.nodes = 2;
  CHECK(imported(options).scenario.cluster.nodes == 2);
}

TEST_CASE("a shell computes: sums, branches, functions, arrays, here-documents, eval") {
  const Scenario sums = of_script("DP=8; MBS=1; GAS=32\n" + kLaunch +
                                  "--micro-batch-size $MBS --global-batch-size $((MBS*DP*GAS))")
                            .scenario;
  CHECK(sums.training.global_batch == 256);
  const std::string branches =
      "AC=none; DTYPE=bf16; A=()\n"
      "if [ $AC = full ]; then ac='--recompute-granularity full'; fi\n"
      "if [[ \"$DTYPE\" == fp8 ]]; then A+=(--fp8-format hybrid); fi\n";
  const Imported plain = of_script(branches + kLaunch + "$ac ${A[@]}");
  CHECK(plain.scenario.training.recompute == Recompute::none);
  CHECK(plain.scenario.training.precision == Precision::bf16);
  CHECK(plain.notes.empty());
  CHECK(layers_of("f() { echo $((4 * $1)); }\ncase 7B in 7B) L=$(f 8);; *) exit 1;; esac\n" +
                  kLaunch + "--num-layers $L") == 32);
  CHECK(layers_of("cat > hosts <<EOF\na\nb\nEOF\neval \"L=$(wc -l < hosts)\"\n" + kLaunch +
                  "--num-layers ${L}0") == 20);
  CHECK(layers_of("declare -A S=([7b]=32 [13b]=40)\n" + kLaunch + "--num-layers ${S[13b]}") == 40);
}

TEST_CASE("files beside a script are read, and one that is not here is named") {
  Script both("source conf/model.sh\n./launch.sh 36");
  both.with("conf/model.sh", "HEADS='--num-attention-heads 16'; export HEADS")
      .with("launch.sh", "#!/bin/bash\n" + kLaunch + "$HEADS --num-layers $1");
  const auto model = std::get<Transformer>(of_script(both).scenario.model.shape);
  CHECK(model.layers == 36);
  CHECK(model.heads == 16);
  const Imported missing = of_script("set -eu\nsource env.sh\n" + kLaunch);
  CHECK(missing.notes ==
        "not simulated as stated: env.sh: it is not here; train.sh:2 reads an empty file\n");
  CHECK(
      first_line(script_error("srun docker run image bash -c \"TP=2 bash ex/run.sh | tee log\"")) ==
      "train.sh:1:42: no Megatron-LM program is started here: what 'ex/run.sh' starts is not "
      "known, for it is not here, import that script, with --env NAME=VALUE for what this one "
      "hands to it");
}

TEST_CASE("the number of GPUs comes from what starts the program") {
  const auto gpus = [](const std::string& text) {
    const Scenario s =
        of_script(text + " --pipeline-model-parallel-size 2 --global-batch-size 64 " + kGpt)
            .scenario;
    return std::pair{s.cluster.nodes, s.cluster.gpus()};
  };
  using Gpus = std::pair<int, int>;
  CHECK(gpus("mpirun -np 16 -x PATH python pretrain_gpt.py") == Gpus{2, 16});
  CHECK(gpus("mpirun -np 16 -npernode 4 python pretrain_gpt.py") == Gpus{4, 16});
  CHECK(gpus("srun -N 4 --ntasks-per-node=8 python -u pretrain_gpt.py") == Gpus{4, 32});
  CHECK(gpus("srun -N4 --gres=gpu:4 torchrun --nproc_per_node 4 pretrain_gpt.py") == Gpus{4, 16});
  CHECK(gpus("accelerate launch --num_machines 2 --num_processes 16 pretrain_gpt.py") ==
        Gpus{2, 16});
  CHECK(gpus("#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\nsrun python a.py") ==
        Gpus{4, 32});
  CHECK(gpus("#!/bin/bash\n#SBATCH -N 2 --gres=gpu:a100:4\n"
             "srun torchrun --nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_ON_NODE a.py") ==
        Gpus{2, 8});
  CHECK(gpus("torchrun --nproc_per_node 8 a.py") == Gpus{1, 8});
  const Imported remote = of_script("for i in 0 1 2 3; do\n  ssh n$i \"cd /repo && numactl -N 0 " +
                                    kLaunch + "--node_rank $i\" &\ndone; wait");
  CHECK(remote.scenario.cluster.nodes == 4);
  const Imported hosts = of_script("pdsh -w 'n[1-3,7]' \"" + kLaunch + "\"");
  CHECK(hosts.scenario.cluster.gpus() == 32);
}

TEST_CASE("what is not stated is listed with the way to state it") {
  const Imported found = of_script(
      "mpirun -np 16 python pretrain_gpt.py --num-layers 24 --hidden-size 2048 "
      "--num-attention-heads 16 --seq-length 4096 --max-position-embeddings 4096 "
      "--micro-batch-size 2 --tokenizer-type Llama2Tokenizer --tokenizer-model a-100k.model "
      "--num-query-groups 16 --kv-channels 64 --optimizer-cpu-offload --use-mpi");
  CHECK(found.assumed ==
        "assumed: cluster dgx-h100: the GPU's type (h100 here) and the network are not stated "
        "(state it: --cluster NAME)\n"
        "assumed: nodes 2 of 8 GPUs: 16 GPUs: stated, not how many a node has (state it: "
        "--nodes N)\n"
        "assumed: vocabulary 32000: not stated; the published Llama2Tokenizer has as many, "
        "'a-100k.model' may have others (state it: --vocab-size N)\n"
        "assumed: global batch 32: not stated; Megatron-LM takes one micro-batch a data-parallel "
        "rank (state it: --global-batch-size N)\n"
        "assumed: precision fp32: not stated; it is Megatron-LM's default (state it: --bf16)\n");
  CHECK(found.notes ==
        "not simulated as stated: --num-query-groups 16 without --group-query-attention: "
        "Megatron-LM passes it over, so each head has its own keys and values\n");
  CHECK(found.scenario.parallelism.data.offload_optimizer);
}

TEST_CASE("a script that asks for what matters is a question, the rest is passed over") {
  const std::string slurm = "GPUS=$((8 * SLURM_NNODES))\nexport MASTER_ADDR=$HEAD\n" + kLaunch +
                            "--global-batch-size $((4 * GPUS)) --data-path $1 --save $CKPT";
  CHECK(script_error(slurm) ==
        "train.sh:1:13: the script asks for SLURM_NNODES, which nobody sets, state it: --env "
        "SLURM_NNODES=VALUE\n"
        "  GPUS=$((8 * SLURM_NNODES))\n"
        "              ^");
  CHECK(of_script(slurm, {"SLURM_NNODES=2"}).scenario.training.global_batch == 64);
  CHECK(of_script("#!/bin/bash\n#SBATCH --nodes=4\n" + slurm).scenario.training.global_batch ==
        128);
  CHECK(first_line(script_error("set -u\nL=$LAYERS\n" + kLaunch + "--num-layers $L")) ==
        "train.sh:2:3: the script asks for LAYERS, which nobody sets, state it: --env "
        "LAYERS=VALUE");
  CHECK(first_line(script_error(kLaunch + "--num-layers $2"))
            .ends_with("the script asks for its argument 2, which nobody sets, state all arguments "
                       "behind the file, or this one: --env 2=VALUE"));
  CHECK(std::get<Transformer>(of_script(kLaunch + "--num-layers $2", {"2=6"}).scenario.model.shape)
            .layers == 6);
  CHECK(script_error(kLaunch, {"A"}) == "--env A: this is no NAME=VALUE");
}

TEST_CASE("a script that ends without a variable is asked for it only where its value matters") {
  const std::string script =
      "[ -z \"$A\" ] && exit 1\n[ -z \"$B\" ] && exit 1\nP=$((1 + ($JOB % 2)))\n" + kLaunch +
      "--num-layers $B --save $A --seed $P";
  CHECK(first_line(script_error(script)) ==
        "train.sh:2:7: the script asks for B, which nobody sets, state it: --env B=VALUE");
  CHECK(std::get<Transformer>(of_script(script, {"B=5"}).scenario.model.shape).layers == 5);
}

TEST_CASE("what follows a script are its arguments, then options that replace its own") {
  const Script script("L=$2\n" + kLaunch + "--num-layers $L --seed $1");
  for (const std::vector<std::string>& behind :
       {std::vector<std::string>{"x", "30", "--seq-length", "1024"},
        std::vector<std::string>{"--seq-length", "1024", "--", "x", "30"}}) {
    ImportOptions options = script.options();
    options.arguments = behind;
    const Scenario s = imported(options).scenario;
    CHECK(std::get<Transformer>(s.model.shape).layers == 30);
    CHECK(s.training.sequence_length == 1024);
  }
}

TEST_CASE("GPUs that a script counts where it runs are assumed") {
  const Imported found = of_script(
      "N=$(python -c 'import torch; print(torch.cuda.device_count())')\n"
      "M=$(nvidia-smi -L | wc -l)\n"
      "torchrun --nproc_per_node $N pretrain_gpt.py --bf16 --global-batch-size $((4 * M)) " +
      kGpt);
  CHECK(found.scenario.cluster.gpus() == 8);
  CHECK(found.scenario.training.global_batch == 32);
  CHECK(found.assumed.find("assumed: GPUs of a node 8: ") != std::string::npos);
}

TEST_CASE("too few GPUs, and what is missing, are refused with the way out") {
  const std::string one_node = "torchrun --nnodes 1 --nproc_per_node 8 a.py --bf16 " + kGpt;
  CHECK(first_line(script_error(one_node + "--tensor-model-parallel-size 16")) ==
        "train.sh:1:19: the launch has 8 GPUs, fewer than the 16 of one replica, state how many "
        "nodes there are: --nodes 2 or more");
  const std::string way = " is missing, state it behind the script: stepsim import FILE --";
  CHECK(script_error("torchrun a.py --num-layers 2") ==
        "--hidden-size" + way + "hidden-size N\n--num-attention-heads" + way +
            "num-attention-heads N\n--seq-length" + way + "seq-length N\n--micro-batch-size" + way +
            "micro-batch-size N");
}

TEST_CASE("a default that matters is listed, and so is a choice by what nobody sets") {
  const Imported found = of_script("if [ \"$FP8\" = 1 ]; then F=--fp8-format; fi\n" + kLaunch +
                                   "--num-layers ${LAYERS:-12} --seed ${SEED:-1} $F");
  CHECK(found.assumed.ends_with(
      "assumed: FP8 empty: train.sh:1 asks for it, and nobody sets it (state it: --env FP8=VALUE)\n"
      "assumed: LAYERS 12: train.sh:2 asks for it, and nobody sets it (state it: --env "
      "LAYERS=VALUE)\n"));
  CHECK(found.assumed.find("SEED") == std::string::npos);
}

TEST_CASE("a script that starts no Megatron-LM program is told what it starts") {
  const auto error = [](const std::string& text) { return first_line(script_error(text)); };
  constexpr const char* none = "no Megatron-LM program is started here";
  CHECK(error("echo a\npython tools/preprocess_data.py --input x") ==
        fmt::format("train.sh:2:8: {}: the script starts python tools/preprocess_data.py, whose "
                    "options are others",
                    none));
  const std::string hydra = ": its settings are files and words of hydra (KEY=VALUE)";
  CHECK(error("python3 -m verl.trainer.main_ppo data.batch=8 actor.model.path=x trainer.nodes=1")
            .starts_with(fmt::format("train.sh:1:12: {}: python3 -m verl.trainer.main_ppo starts "
                                     "verl{}",
                                     none, hydra)));
  CHECK(error("srun python /opt/NeMo/megatron_gpt_pretraining.py --config-name=gpt")
            .find("starts NeMo" + hydra) != std::string::npos);
  CHECK(error("NPROC=8 megatron sft --model Qwen/Qwen3-30B-A3B --micro_batch_size_ 1")
            .find("starts ms-swift: its options are not those of Megatron-LM") !=
        std::string::npos);
  CHECK(error("echo only") == fmt::format("train.sh: {}", none));
  CHECK(error("exit 3") == fmt::format("train.sh: {}: the script ends with exit code 3", none));
  CHECK(error("echo\nx=$((1 / 0))\nexit 1") ==
        fmt::format("train.sh:2:1: {}: the script ends with exit code 1 ('1 / 0: division by 0 "
                    "(error token is \"0\")')",
                    none));
  CHECK(error("if true; then\n  echo\n").starts_with("train.sh:4:1: bash: syntax error"));
  // What it prints may look like what bash says, or be of any length.
  CHECK(error("echo \"$0: line 99999999999999999999: a\" >&2\nexit 1")
            .find("the script ends with exit code 1") != std::string::npos);
  CHECK(error("set -u\n: ${" + std::string(300'000, 'b') + "}")
            .find("the script ends with exit code 1") != std::string::npos);
}

TEST_CASE("a script that is started at the top of its repository finds what is there") {
  const TemporaryFolder folder;
  const std::string script = folder.file("recipes/8b/run.sh", "L=7 bash launch.sh\n");
  (void)folder.file("launch.sh", "source $(dirname $(readlink -f $0))/conf/x.conf\n" + kLaunch +
                                     "--num-layers $((L + MORE))\n");
  (void)folder.file("conf/x.conf", "MORE=2\n");
  const Imported found = imported({.from = "megatron", .file = script});
  CHECK(std::get<Transformer>(found.scenario.model.shape).layers == 9);
}

TEST_CASE("files of the training machine have their names, though they are not here") {
  CHECK(layers_of("set -eu\nexport DIR=$(realpath -eP /no/such/folder)\n"
                  "[ $DIR = /no/such/folder ] && L=5\nF=$(readlink -f $DIR/x/y)\n: ${F:?}\n" +
                  kLaunch + "--num-layers $L") == 5);
}

TEST_CASE("another architecture is refused with the reason") {
  const auto error = [](const std::string& program, const std::string& options) {
    return first_line(script_error("torchrun " + program + " " + kGpt + options));
  };
  CHECK(error("pretrain_mamba.py", "--num-layers 56")
            .starts_with("train.sh:1:10: pretrain_mamba.py trains a hybrid of Mamba and attention "
                         "layers: it cannot be imported"));
  CHECK(error("a.py", "--hybrid-override-pattern M-MD")
            .find("a layer of another kind than M, G, *") != std::string::npos);
  CHECK(error("a.py", "--spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec")
            .find("such a model cannot be imported") != std::string::npos);
  CHECK(error("pretrain_t5.py", "")
            .starts_with("train.sh:1:10: pretrain_t5.py trains an encoder and a decoder"));
  CHECK(error("a.py", "--retro-project-dir x").find("a model that retrieves (RETRO)") !=
        std::string::npos);
}

TEST_CASE("what is no script is refused, not read as one without options") {
  CHECK(script_error("# " + std::string(1 << 20, 'x') + "\n" + kGpt) ==
        "train.sh: the file is larger than 1 MiB: this is no launch script");
  CHECK(script_error(kGpt + "\n --bf16" + std::string(1, '\0')) ==
        "train.sh:2:8: byte 0x00 is not text: this is no launch script");
}

TEST_CASE("mistakes in a script have their place") {
  CHECK(script_error("TP=x\nrun --tensor-model-parallel-size $TP " + kGpt)
            .starts_with("train.sh:2:34: --tensor-model-parallel-size: 'x' is not a whole number\n"
                         "  run --tensor-model-parallel-size $TP "));
  CHECK(script_error("run --tensor_model_parallel_size=0 " + kGpt)
            .starts_with("train.sh:1:5: --tensor-model-parallel-size 0 is not between"));
  CHECK(script_error("run --num-experts 2 \\\n --moe-router-topk 4 " + kGpt)
            .starts_with("train.sh:2:20: --moe-router-topk 4 is above --num-experts 2\n"));
  CHECK(script_error("torchrun --nnodes 0 a.py " + kGpt)
            .starts_with("train.sh:1:19: --nnodes 0 is not between 1 and 1000000"));
  CHECK(first_line(script_error("python a.py " + kGpt + "\nif true; then\n  torchrun b.py " + kGpt +
                                "; fi")) ==
        "train.sh:3:12: a second program is launched here, the first is on line 1, leave one of "
        "them: a scenario is one run");
  CHECK(of_script(kLaunch + "--num-layers 96").notes ==
        "not simulated as stated: --num-layers 24 (train.sh:1:52): --num-layers 96 "
        "(train.sh:1:201), given after it, is taken\n");
  CHECK(of_script("[ -f a.py ] || echo \"python a.py is missing\"\n" + kLaunch +
                  "--wandb-exp-name \"run # 5\" --context-parallel-size 2")
            .scenario.parallelism.context.degree == 2);
}

TEST_CASE("gated delta nets, gates and sinks are read with the layers that have them") {
  const auto model = [](const std::string& options) {
    return std::get<Transformer>(of_script(kLaunch + options).scenario.model.shape);
  };
  const std::string nets =
      "--num-layers 4 --experimental-attention-variant gated_delta_net --linear-num-key-heads 8 "
      "--linear-num-value-heads 16 --attention-output-gate --position-embedding-type rope ";
  const Transformer every = model(nets + "--linear-attention-freq 4");
  CHECK(every.hybrid->pattern == "G-G-G-*-");
  CHECK(every.layers == 4);
  CHECK(every.hybrid->rotary);
  CHECK(every.attention_gate);
  CHECK(every.hybrid->delta_net == GatedDeltaNet{.key_heads = 8, .value_heads = 16});
  const Transformer sparse =
      model(nets +
            "--linear-attention-freq [1,0]*2 --num-experts 8 --moe-layer-freq [0]+[1]*3 "
            "--moe-shared-expert-intermediate-size 64 --moe-shared-expert-gate");
  CHECK(sparse.hybrid->pattern == "G-*EGE*E");
  CHECK(sparse.experts->shared_gate);
  CHECK(sparse.experts->bias);
  CHECK(model("--softmax-type learnable").sinks);
  for (const char* size : {"127 0", "127,0", "'(127,0)'", "'(127, 0)'"})
    CHECK(model(std::string("--window-size ") + size).window->tokens == 128);
  const Script learnable(kLaunch + "--softmax-type learnable");
  ImportOptions on_a100 = learnable.options();
  on_a100.cluster = "dgx-a100-80";
  const Imported flash = imported(on_a100);
  CHECK(flash.scenario.training.attention == "unfused");
  CHECK(flash.notes.find("attention by flash2: unfused") != std::string::npos);
  // Where the GPU has cuDNN's, Transformer Engine takes it, as it does for sinks.
  const Imported fused = imported(learnable.options());
  CHECK(fused.scenario.training.attention == "cudnn");
  CHECK(fused.notes.find("attention by") == std::string::npos);
  CHECK_FALSE(model("--softmax-type off-by-one").sinks);
  CHECK(model("--hybrid-layer-pattern GE*E --num-experts 8").hybrid->pattern == "GE*E");
  const Transformer further =
      model("--hybrid-layer-pattern M-M*/*-/*- --window-size 127,0 --window-attn-skip-freq 2");
  CHECK(further.hybrid->mtp_pattern == "*-");
  CHECK(further.mtp_layers == 2);
  CHECK(further.window == AttentionWindow{.tokens = 128, .full_every = 2});
  const Transformer before =
      model("--hybrid-override-pattern M-M* --mtp-hybrid-override-pattern M- --mtp-num-layers 1");
  CHECK(before.hybrid->mtp_pattern == "M-");
  CHECK(before.mtp_layers == 1);
  CHECK(model(nets + "--linear-attention-freq 4 --mtp-num-layers 1").hybrid->mtp_pattern == "*-");
  const auto error = [](const std::string& options) {
    return first_line(script_error("torchrun a.py " + kGpt + options));
  };
  CHECK(error("--hybrid-layer-pattern M-M*/*-/M-").find("that differ") != std::string::npos);
  CHECK(error("--hybrid-layer-pattern M-M* --mtp-num-layers 2").find("as M-M*/*E has one") !=
        std::string::npos);
  CHECK(error("--experimental-attention-variant gdn").find("add --linear-attention-freq N") !=
        std::string::npos);
  CHECK(error("--experimental-attention-variant dsa").find("cannot be imported") !=
        std::string::npos);
  CHECK(error("--experimental-attention-variant gdn --linear-attention-freq [1,0]*7")
            .find("is of 14 layers") != std::string::npos);
  CHECK(error("--experimental-attention-variant gdn --linear-attention-freq [2]*8")
            .find("--linear-attention-freq [2]*8 is no list of 0 and 1, one for each layer, e.g. "
                  "\"([1]*3+[0]*1)*12\"") != std::string::npos);
}
