// A name on the hub, without its owner and without what was done to the weights, is the model's.
#include "sim/import/config/hub_model.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "sim/core/words.hpp"

namespace stepsim {
namespace {

/// What stands for a model's shape in the last part of a name, in lower case, and behind "=" the
/// model, where it has another name in models/; where several fit, the longest counts.
constexpr std::string_view kModels =
    "bert-base bert-large deepseek-r1=deepseek-v3 deepseek-v2 deepseek-v2-lite deepseek-v3 "
    "gemma-2-27b=gemma2-27b gemma-2-2b=gemma2-2b gemma-2-9b=gemma2-9b gemma-3-12b=gemma3-12b "
    "gemma-3-1b=gemma3-1b gemma-3-27b=gemma3-27b gpt-oss-120b gpt-oss-20b gpt2 gpt2-large "
    "gpt2-medium gpt2-xl llama-2-13b=llama2-13b "
    "llama-2-70b=llama2-70b llama-2-7b=llama2-7b llama-3-70b=llama3-70b llama-3-8b=llama3-8b "
    "llama-3.1-405b=llama3-405b llama-3.1-70b=llama3-70b llama-3.1-8b=llama3-8b "
    "llama-3.3-70b=llama3-70b mistral-7b mixtral-8x22b mixtral-8x7b mpt-30b mpt-7b qwen2.5-32b "
    "qwen2.5-72b qwen2.5-7b qwen3-0.6b qwen3-1.7b qwen3-14b qwen3-235b-a22b qwen3-30b-a3b "
    "qwen3-32b qwen3-4b qwen3-8b qwen3-next-80b-a3b";

/// Whether `part` ends where a word of the name does: "qwen3-4b" is no "qwen3-4bit".
bool begins_with_word(std::string_view name, std::string_view part) {
  if (!name.starts_with(part)) return false;
  return name.size() == part.size() ||
         std::isalnum(static_cast<unsigned char>(name[part.size()])) == 0;
}

}  // namespace

std::optional<std::string> model_of_hub(const std::string& name) {
  std::string last = in_lower_case(name.substr(name.find_last_of('/') + 1));
  for (const std::string_view owner : {"meta-", "nousresearch-"})
    if (last.starts_with(owner)) last.erase(0, owner.size());
  std::string_view longest, model;
  for (const std::string_view known : words_of(kModels)) {
    const std::size_t equals = std::min(known.find('='), known.size());
    if (!begins_with_word(last, known.substr(0, equals)) || equals <= longest.size()) continue;
    longest = known.substr(0, equals);
    model = equals == known.size() ? longest : known.substr(equals + 1);
  }
  if (longest.empty()) return std::nullopt;
  return std::string(model);
}

}  // namespace stepsim
