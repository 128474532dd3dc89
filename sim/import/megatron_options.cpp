// The options of Megatron-LM (NVIDIA/Megatron-LM megatron/training/arguments.py) that are not read.
//
// Most options are generated from dataclasses there (megatron/core/model_parallel_config.py,
// transformer/transformer_config.py), names with dashes.
#include "sim/import/megatron_options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/scenario/read/number.hpp"

namespace stepsim {
namespace {

/// Options that leave the time of a step as it is, by the beginning of their names: data, numerics,
/// schedules of the learning rate, saving, logging and the launcher.
constexpr std::string_view kHarmless[] = {
    "adam-",
    "apply-layernorm-1p",
    "async-save",
    "attention-softmax-in-fp32",
    "auto-detect-ckpt",
    "beta-fast",
    "beta-slow",
    "cache-mla-latents",
    "calculate-per-token-loss",
    "ckpt-",
    "data-args",
    "data-cache-path",
    "data-path",
    "dataloader-type",
    "dist-ckpt",
    "distributed-backend",
    "distributed-timeout",
    "end-weight",
    "eod-mask",
    "eval-",
    "exit-",
    "finetune",
    "init-method",
    "initial-loss-scale",
    "load",
    "local-rank",
    "log-",
    "loss-scale",
    "lr",
    "manual-gc",
    "master",
    "merge-file",
    "min-lr",
    "mock-data",
    "moe-apply-probs-on-input",
    "moe-aux-loss-coeff",
    "moe-input-jitter-eps",
    "moe-per-layer-logging",
    "moe-permute-fusion",
    "moe-router-",
    "moe-token-drop-policy",
    "moe-use-",
    "moe-z-loss-coeff",
    "mscale",
    "mtp-loss-scaling-factor",
    "no-load",
    "no-save",
    "node-rank",
    "norm-epsilon",
    "num-workers",
    "override-opt",
    "profile",
    "rdzv",
    "reset-",
    "rotary-",
    "save",
    "seed",
    "sgd-momentum",
    "split",
    "start-weight",
    "swiglu-",
    "tensorboard",
    "test-data",
    "tokenizer-model",
    "train-data",
    "train-iters",
    "train-samples",
    "use-dist-ckpt",
    "use-legacy",
    "use-mcore",
    "use-rope-scaling",
    "valid-data",
    "vocab-file",
    "wandb",
    "weight-decay",
};

/// Options that change a step in a way that scenarios cannot say, with what is simulated.
const std::map<std::string, std::string, std::less<>> kNotSimulated = {
    {"cpu-offloading", "activations stay on the GPU"},
    {"cross-entropy-loss-fusion", "the loss runs as separate kernels"},
    {"cuda-graph-impl", "host.mode: graph is one launch a pass"},
    {"defer-embedding-wgrad-compute", "weight gradients of the head run in their place"},
    {"delay-wgrad-compute", "weight gradients run in their place"},
    {"distribute-saved-activations", "each tensor-parallel rank keeps whole activations"},
    {"enable-cuda-graph", "host.mode: graph is one launch a pass"},
    {"hierarchical-context-parallel-sizes", "context parallel ranks are one group"},
    {"moe-expert-rank-capacity-factor", "no token is dropped"},
    {"moe-layer-recompute", "recompute is that of --recompute-granularity"},
    {"moe-router-group-topk", "a token may go to experts of every group"},
    {"moe-router-num-groups", "a token may go to experts of every group"},
    {"moe-router-padding-for-fp8", "experts' rows are not padded"},
    {"moe-router-padding-for-quantization", "experts' rows are not padded"},
    {"moe-router-topk-limited-devices", "a token may go to experts of every rank"},
    {"moe-shared-expert-gate", "shared experts have no gate"},
    {"moe-shared-expert-overlap", "shared experts run after the routed ones"},
    {"mtp-num-layers", "the layers that predict further tokens are left out"},
    {"no-bias-gelu-fusion", "bias and activation are one kernel"},
    {"no-bias-swiglu-fusion", "bias and activation are one kernel"},
    {"no-gradient-accumulation-fusion", "weight gradients are added up by their GEMM"},
    {"no-masked-softmax-fusion", "masked softmax is one kernel"},
    {"optimizer-cpu-offload", "the optimizer runs on the GPU"},
    {"overlap-p2p-communication-warmup-flush", "warm-up transfers follow the schedule"},
    {"overlap-param-gather-with-optimizer-step", "parameters are gathered when all are updated"},
    {"pipeline-model-parallel-layout", "layers are dealt out evenly"},
    {"tp-comm-overlap", "tensor-parallel collectives of the forward pass are exposed"},
    {"use-precision-aware-optimizer", "optimizer state is fp32"},
    {"use-ring-exchange-p2p", "transfers are sends and receives"},
    {"window-size", "attention is counted over the whole sequence"},
};

constexpr std::int64_t kMostRanks = 10'000;

bool is_harmless(std::string_view name) {
  return std::any_of(std::begin(kHarmless), std::end(kHarmless),
                     [&](std::string_view start) { return name.starts_with(start); });
}

std::string shown_option(std::string_view name, const std::vector<std::string>& values) {
  return fmt::format("--{}{}{}", name, values.empty() ? "" : " ", fmt::join(values, " "));
}

/// What to write instead of a value of a script that is no number.
std::string proposal_for(const std::string& value, const Place& place) {
  if (!place.source || value.find('$') == std::string::npos) return "";
  return value.find("$(") != std::string::npos ? "write the number: no shell computes it here"
                                               : "write the number: the script does not assign it";
}

}  // namespace

MegatronOptions::MegatronOptions(const std::vector<ShellWord>& words) {
  Option* option = nullptr;
  for (const auto& [word, place] : words) {
    if (!word.starts_with("--")) {
      if (option == nullptr) continue;
      if (option->values.empty()) option->value_place = place;
      option->values.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::replace(name.begin(), name.end(), '_', '-');
    const auto before = options_.find(name);
    if (before != options_.end()) replaced_.emplace_back(name, std::move(before->second));
    option = &(options_[name] = {.values = {}, .place = place, .value_place = place});
    if (equals == std::string::npos) continue;
    option->values.push_back(word.substr(equals + 1));
    option = nullptr;
  }
}

bool MegatronOptions::has(std::string_view name) {
  read_.emplace(name);
  return options_.find(name) != options_.end();
}

std::string MegatronOptions::text(std::string_view name, const std::string& preset) {
  if (!has(name)) return preset;
  const auto& words = options_.find(name)->second.values;
  return words.empty() ? "" : words.front();
}

std::vector<std::string> MegatronOptions::list(std::string_view name) {
  return has(name) ? options_.find(name)->second.values : std::vector<std::string>{};
}

std::int64_t MegatronOptions::integer(std::string_view name, std::int64_t preset) {
  if (!has(name)) return preset;
  const std::string value = text(name);
  const auto number = number_if_any(value);
  const bool whole = number && number->rest.empty() && number->value >= 0 &&
                     number->value <= 1e12 &&
                     number->value == static_cast<double>(static_cast<std::int64_t>(number->value));
  if (!whole)
    refuse(name, fmt::format("--{}: {} is not a whole number", name, quoted(value)),
           proposal_for(value, options_.find(name)->second.value_place));
  return static_cast<std::int64_t>(number->value);
}

std::int64_t MegatronOptions::positive(std::string_view name, std::int64_t preset) {
  const std::int64_t number = integer(name, preset);
  if (number == 0 && has(name)) refuse(name, fmt::format("--{} 0 is not above 0", name));
  return number;
}

std::int64_t MegatronOptions::required(std::string_view name) {
  if (!has(name)) throw UserError(fmt::format("--{} is missing", name));
  return positive(name, 0);
}

std::int64_t MegatronOptions::up_to(std::int64_t most, std::string_view name, std::int64_t preset) {
  const std::int64_t number = integer(name, preset);
  if (has(name) && (number < 1 || number > most))
    refuse(name, fmt::format("--{} {} is not between 1 and {}", name, number, most));
  return number;
}

std::int64_t MegatronOptions::degree(std::string_view name) { return up_to(kMostRanks, name, 1); }

void MegatronOptions::refuse(std::string_view name, const std::string& message,
                             const std::string& proposal) const {
  Diagnostic mistake{.message = message, .proposal = proposal};
  const auto option = options_.find(name);
  // What stands on stepsim's own command line has no place.
  if (option != options_.end() && option->second.value_place.source) {
    const Place& place = option->second.value_place;
    mistake.file = place.source->name;
    mistake.line = place.line;
    mistake.column = place.column;
    mistake.source_line = place.source->line(place.line);
  }
  throw UserError({mistake});
}

bool MegatronOptions::is_zero(std::string_view name) {
  const auto number = number_if_any(text(name));
  return number && number->value == 0;
}

std::string MegatronOptions::shown(std::string_view name) { return shown_option(name, list(name)); }

void MegatronOptions::note_the_rest(Draft& draft) const {
  note_replaced(draft);
  for (const auto& [name, option] : options_) {
    const auto known = kNotSimulated.find(name);
    if (known != kNotSimulated.end()) {
      draft.note(shown_option(name, option.values), known->second);
    } else if (!read_.contains(name) && !is_harmless(name)) {
      draft.note(shown_option(name, option.values), "not known here");
    }
  }
}

/// Notes options of the script that the command line replaces by intention.
void MegatronOptions::note_replaced(Draft& draft) const {
  for (const auto& [name, option] : replaced_) {
    const Option& last = options_.find(name)->second;
    if (!last.place.source || last.values == option.values) continue;
    const auto shown = [&name = name](const Option& one) {
      return fmt::format("{} ({}:{}:{})", shown_option(name, one.values), one.place.source->name,
                         one.place.line, one.place.column);
    };
    draft.note(shown(option), shown(last) + ", given after it, is taken");
  }
}

}  // namespace stepsim
