// Finds the rank in names that profilers and people give to files of ranks.
#include "sim/recording/files/rank_in_name.hpp"

#include <charconv>
#include <filesystem>
#include <string_view>

namespace stepsim {

std::optional<int> rank_in_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  for (const std::string_view word : {"rank", "worker"}) {
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1)) {
      std::size_t digit = at + word.size();
      if (digit < name.size() && (name[digit] == '-' || name[digit] == '_')) ++digit;
      int rank = 0;
      const auto [end, error] = std::from_chars(&name[digit], name.data() + name.size(), rank);
      if (error == std::errc() && rank >= 0) return rank;
    }
  }
  return std::nullopt;
}

void take_rank_from_name(Recording& recording) {
  if (recording.rank) return;
  recording.rank = rank_in_name(recording.file);
  recording.notes.is_rank_from_name = recording.rank.has_value();
}

}  // namespace stepsim
