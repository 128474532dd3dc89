// LLaMA-Factory (hiyouga/LLaMA-Factory src/llamafactory/hparams) and TRL (huggingface/trl
// trl/trainer/model_config.py, base_config.py, sft_config.py).
#include "sim/import/config/trainer_dialects.hpp"

#include <sstream>

#include <fmt/format.h>

#include "sim/import/config/adapters.hpp"
#include "sim/import/config/packed_documents.hpp"

namespace stepsim {
namespace {

constexpr const char* kPrecisionOfRun = "frozen weights are kept in the precision of the run";
constexpr int kTrlLength = 1024;  ///< SFTConfig's max_length

bool has_any(Config& config, std::initializer_list<const char*> keys) {
  bool any = false;
  for (const char* key : keys) any |= config.has(key);
  return any;
}

void note_if_on(Config& config, const char* key, const char* why, Draft& draft) {
  if (config.is_on(key)) draft.note(key, why);
}

/// "q_proj,v_proj", a list of them, or a word for all linear layers.
void read_targets(Config& config, const char* key, PeftAdapters& adapters) {
  for (const std::string& words : config.list(key)) {
    std::istringstream names(words);
    for (std::string name; std::getline(names, name, ',');) {
      std::erase(name, ' ');
      if (name == "all" || name == "all-linear")
        adapters.is_everywhere = true;
      else
        adapters.modules.push_back(name);
    }
  }
}

/// LLaMA-Factory trains adapters unless it is told otherwise.
void read_method(Config& config, TrainerSettings& s, Draft& draft) {
  const std::string method =
      config.choice("finetuning_type", {"lora", "freeze", "full", "oft"}, "lora");
  PeftAdapters adapters{.rank = config.positive("lora_rank", 8),
                        .has_dropout = config.number("lora_dropout").value_or(0) > 0,
                        .is_everywhere = !config.has("lora_target")};
  read_targets(config, "lora_target", adapters);
  if (method == "lora") s.lora = lora_text(adapters, draft);
  if (method == "freeze" || method == "oft")
    draft.note("finetuning_type " + method, "all weights are trained");
  if (!config.has("finetuning_type"))
    draft.assume({"adapters", "LoRA", "not stated; the default of LLaMA-Factory's finetuning_type",
                  "finetuning_type: full"});
}

/// LLaMA-Factory starts Megatron-LM where it is told a split (USE_MCA).
void refuse_megatron(Config& config) {
  for (const char* key : {"tensor_model_parallel_size", "pipeline_model_parallel_size",
                          "context_parallel_size", "expert_model_parallel_size"}) {
    if (config.positive(key, 1) > 1)
      config.report(key,
                    fmt::format("{}: LLaMA-Factory hands this split to Megatron-LM, and the file "
                                "does not hold the rest of its options",
                                key),
                    "state them: stepsim import megatron -- OPTIONS");
  }
}

void read_llama_factory(Config& config, TrainerSettings& s, Draft& draft) {
  refuse_megatron(config);
  read_method(config, s, draft);
  s.recompute = !config.is_on("disable_gradient_checkpointing");
  if (!config.has("disable_gradient_checkpointing"))
    draft.assume({"recomputation", "full",
                  "not stated; LLaMA-Factory turns gradient checkpointing on",
                  "disable_gradient_checkpointing: true"});
  if (config.is_on("pure_bf16")) {
    s.precision = "bf16";
    s.has_master_weights = false;
  }
  if (config.is_on("fp8")) s.precision = "fp8";
  if (config.has("quantization_bit")) draft.note("quantization_bit", kPrecisionOfRun);
  for (const char* optimizer :
       {"use_galore", "use_apollo", "use_badam", "use_adam_mini", "use_muon"})
    note_if_on(config, optimizer, "AdamW of PyTorch", draft);
  has_any(config, {"galore_rank", "galore_target", "apollo_rank", "apollo_target"});
  if (config.is_on("enable_liger_kernel")) use_liger(s);
  note_if_on(config, "use_unsloth", "kernels are not unsloth's", draft);
  const std::string stage = config.choice("stage", {"pt", "sft", "rm", "ppo", "dpo", "kto"}, "sft");
  if (stage != "sft" && stage != "pt")
    draft.note("stage " + stage, "a step is one of pretraining: no reference model, no generation");
  const std::string attention =
      config.choice("flash_attn", {"auto", "disabled", "sdpa", "fa2", "fa3"}, "auto");
  s.attention = attention == "disabled" ? "eager" : attention == "fa3" ? "flash3" : "";
  // Without it what is packed attends to the whole sequence (data/processor/supervised.py).
  if (config.is_on("neat_packing")) assume_whole_documents("neat_packing: true", draft);
}

/// A kernel of transformers (src/transformers/modeling_utils.py, AttentionInterface), or one of the
/// hub, which has a slash in its name.
std::string attention_named(Config& config, const char* key) {
  std::string stated = config.text(key);
  if (stated.empty() || stated.find('/') != std::string::npos || stated.starts_with("paged|"))
    return stated;
  return config.choice(key, {"eager", "sdpa", "flash_attention_2", "flash_attention_3",
                             "flash_attention_4", "flex_attention"});
}

/// Sequences that are cut out of a stream of tokens ("wrapped") attend to all of it; others keep
/// documents apart (trl/trainer/sft_trainer.py, padding_free).
void read_packing_of_trl(Config& config, Draft& draft) {
  const std::string strategy =
      config.choice("packing_strategy", {"bfd", "bfd_split", "bfd-requeue", "wrapped"}, "bfd");
  if (!config.has("packing")) return;
  if (!config.is_on("packing")) return draft.note("packing", "sequences have one length");
  if (strategy != "wrapped") assume_whole_documents("packing: true", draft);
}

void read_trl(Config& config, TrainerSettings& s, Draft& draft) {
  PeftAdapters adapters{.rank = config.positive("lora_r", 16),
                        .has_dropout = config.number("lora_dropout").value_or(0.05) > 0};
  read_targets(config, "lora_target_modules", adapters);
  if (config.is_on("use_peft")) s.lora = lora_text(adapters, draft);
  for (const char* key : {"load_in_4bit", "load_in_8bit"})
    note_if_on(config, key, kPrecisionOfRun, draft);
  const auto presets = [&](const char* key, const char* what, const std::string& value) {
    draft.assume({what, value, fmt::format("not stated; the default of TRL's {}", key),
                  fmt::format("{} in the file", key)});
  };
  if (!config.has("gradient_checkpointing")) {
    s.recompute = true;
    presets("gradient_checkpointing", "recomputation", "full");
  }
  if (s.precision.empty()) {
    s.precision = "bf16";
    presets("bf16", "precision", "bf16");
  }
  if (!has_any(config, {"max_length", "max_seq_length"})) {
    s.sequence_length = kTrlLength;
    presets("max_length", "sequence length", std::to_string(kTrlLength));
  }
  const std::string attention = attention_named(config, "attn_implementation");
  s.attention = attention == "eager" ? "eager" : attention == "flash_attention_3" ? "flash3" : "";
  read_packing_of_trl(config, draft);
}

}  // namespace

void read_dialect(Config& config, TrainerSettings& settings, Draft& draft) {
  if (has_any(config, {"finetuning_type", "stage", "template", "cutoff_len"}))
    read_llama_factory(config, settings, draft);
  else if (has_any(config, {"use_peft", "lora_r", "max_length", "max_seq_length", "packing",
                            "dataset_text_field", "attn_implementation", "load_in_4bit"}))
    read_trl(config, settings, draft);
}

}  // namespace stepsim
