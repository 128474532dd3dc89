// The list of GPUs without a profile.
#include "sim/scenario/read/absent_gpus.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace stepsim {
namespace {

/// GPUs and the nearest profile by generation; for another maker's the one whose memory is as fast.
constexpr std::array<std::pair<std::string_view, std::string_view>, 27> kNearest{{
    {"a100", "a100-80"},  {"a100pcie", "a100-80"}, {"a800", "a100-80"},   {"a10", "l40s"},
    {"a10g", "l40s"},     {"a40", "l40s"},         {"a6000", "l40s"},     {"b100", "b200"},
    {"b300", "b200"},     {"gb300", "gb200"},      {"gh200", "h100"},     {"h100nvl", "h100"},
    {"h100pcie", "h100"}, {"h10080", "h100"},      {"h20", "h100"},       {"h800", "h100"},
    {"l4", "l40s"},       {"l40", "l40s"},         {"mi250x", "a100-80"}, {"mi300x", "h200"},
    {"mi325x", "h200"},   {"mi355x", "b200"},      {"rtx3090", "l40s"},   {"rtx4090", "l40s"},
    {"rtx5090", "l40s"},  {"rtxa6000", "l40s"},    {"t4", "v100"},
}};

void erase_word(std::string& text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at != std::string::npos) text.erase(at, word.size());
}

/// In small letters and digits alone.
std::string bare(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : {"nvidia", "amd", "tesla", "geforce", "instinct", "sxm2",
                                      "sxm3", "sxm4", "sxm5", "sxm", "hbm3e", "hbm3"})
    erase_word(text, word);
  // A name that ends with GB ends with a capacity; GB200 only begins with it.
  if (text.size() > 2 && text.ends_with("gb")) text.erase(text.size() - 2);
  return text;
}

}  // namespace

std::string nearest_gpu(std::string_view name, const std::vector<std::string>& profiles) {
  const std::string wanted = bare(name);
  const auto has = [&](std::string_view profile) {
    return std::ranges::find(profiles, profile) != profiles.end();
  };
  for (const std::string& profile : profiles)
    if (bare(profile) == wanted) return profile;
  for (const auto& [gpu, profile] : kNearest)
    if (gpu == wanted && has(profile)) return std::string(profile);
  return "";
}

}  // namespace stepsim
