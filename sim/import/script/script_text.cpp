// Finds words in the text of scripts, by looking for them: bash does not say where they come from.
#include "sim/import/script/script_text.hpp"

#include <algorithm>
#include <cctype>

namespace stepsim {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

/// Good enough to find words: a hash within quotes counts as one, too.
std::string without_comments(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '#' || (i > 0 && !is_space(text[i - 1]))) continue;
    for (; i < text.size() && text[i] != '\n'; ++i) text[i] = ' ';
  }
  return text;
}

/// Offsets of a word that no longer word holds.
std::vector<std::size_t> found(const std::string& text, std::string_view word) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; (i = text.find(word, i)) != std::string::npos; i += word.size()) {
    const std::size_t end = i + word.size();
    if ((i == 0 || !is_of_word(text[i - 1])) && (end == text.size() || !is_of_word(text[end])))
      at.push_back(i);
  }
  return at;
}

/// What follows an option: behind spaces, an equals sign, a quote.
std::size_t value_after(const std::string& text, std::size_t at) {
  while (at < text.size() && (is_space(text[at]) || text[at] == '=' || text[at] == '"' ||
                              text[at] == '\'' || text[at] == '\\'))
    ++at;
  return at;
}

}  // namespace

ScriptText::ScriptText(std::vector<std::shared_ptr<const Source>> sources)
    : sources_(std::move(sources)) {
  for (const auto& source : sources_) code_.push_back(without_comments(source->text));
}

Place ScriptText::of_word(std::string_view word) const {
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const auto at = found(code_[i], word);
    if (!at.empty()) return place_at(sources_[i], at.back());
  }
  return {};
}

std::pair<Place, Place> ScriptText::of_option(std::string_view option,
                                              std::string_view value) const {
  std::string other(option);
  std::replace(other.begin() + 2, other.end(), '-', '_');
  std::pair<Place, Place> best;
  for (std::size_t i = 0; i < code_.size(); ++i) {
    std::vector<std::size_t> all = found(code_[i], option);
    if (other != option) {
      const auto more = found(code_[i], other);
      all.insert(all.end(), more.begin(), more.end());
    }
    for (const std::size_t at : all) {
      const std::size_t after = value_after(code_[i], at + option.size());
      best = {place_at(sources_[i], at), place_at(sources_[i], std::min(after, code_[i].size()))};
      if (!value.empty() && code_[i].compare(after, value.size(), value) == 0) return best;
    }
  }
  return best;
}

}  // namespace stepsim
