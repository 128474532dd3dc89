// Trainers by the words of their command lines, each with its documentation's name for its settings.
#include <algorithm>
#include <regex>

#include "sim/import/script/programs.hpp"

namespace stepsim {
namespace {

struct Trainer {
  const char* word;  ///< a part of a word of its command line
  const char* name;  ///< with how it is set
};

constexpr const char* kHydra = "its settings are files and words of hydra (KEY=VALUE)";

constexpr Trainer kTrainers[] = {
    {"verl.", "verl"},
    {"actor_rollout_ref", "verl"},
    {"megatron_gpt_pretraining", "NeMo"},
    {"megatron_gpt_finetuning", "NeMo"},
    {"nemo_launcher", "NeMo"},
    {"nemo_skills", "NeMo"},
    {"NeMo-RL", "NeMo RL"},
    {"flagscale", "FlagScale"},
    {"primus", "Primus"},
    {"torchtitan", "torchtitan"},
    {"llamafactory", "LLaMA-Factory"},
    {"axolotl", "axolotl"},
    {"nanotron", "nanotron"},
    {"openrlhf", "OpenRLHF"},
    {"swift/cli", "ms-swift"},
};

bool is_hydra_word(const std::string& word) {
  static const std::regex setting(R"([+~]{0,2}[A-Za-z_][\w@/]*(\.[\w@/]+)+=.*)");
  return word.size() < 1000 && std::regex_match(word, setting);
}

bool is_hydra(const Words& words) {
  return std::ranges::any_of(words,
                             [](const std::string& word) {
                               return word.starts_with("--config-name") ||
                                      word.starts_with("--config-path");
                             }) ||
         std::ranges::count_if(words, is_hydra_word) >= 3;
}

std::string name_of(const Words& words) {
  for (const Trainer& trainer : kTrainers) {
    if (std::ranges::any_of(words, [&](const std::string& word) {
          return word.find(trainer.word) != std::string::npos;
        }))
      return trainer.name;
  }
  const std::string program = program_name(words.front());
  if (program == "megatron" || program == "swift") return "ms-swift";
  if (program == "nemo" || program == "nemorun") return "NeMo";
  return "";
}

}  // namespace

std::string other_trainer(const Words& words) {
  const std::string name = name_of(words);
  if (is_hydra(words)) return (name.empty() ? "a program" : name) + std::string(": ") + kHydra;
  if (name == "ms-swift") return name + ": its options are not those of Megatron-LM";
  if (!name.empty()) return name + ": its settings are in files of its own";
  return "";
}

}  // namespace stepsim
