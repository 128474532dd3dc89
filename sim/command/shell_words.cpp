// Splitting scripts into words: quotes and parentheses only group, so they are spaces here, but the
// parentheses of a list's expression, as in ([0]*3+[1]*58).
#include "sim/command/shell_words.hpp"

#include <cctype>
#include <map>
#include <sstream>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"

namespace stepsim {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether the parenthesis belongs to a value; `open` has those that are open.
bool is_of_value(const std::string& text, std::size_t i, std::vector<bool>& open) {
  if (text[i] == '(') {
    open.push_back(i + 1 < text.size() && text[i + 1] == '[');
    return open.back();
  }
  if (text[i] != ')' || open.empty()) return false;
  const bool was_of_value = open.back();
  open.pop_back();
  return was_of_value;
}

/// Without comments, with joined lines, and with spaces for what groups words.
std::string plain(const std::string& text) {
  std::string result;
  std::vector<bool> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool starts_word = i == 0 || std::isspace(static_cast<unsigned char>(text[i - 1])) != 0;
    if (c == '#' && starts_word) {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (c == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      result += ' ';
    } else {
      const bool groups = c == '"' || c == '\'' || c == '(' || c == ')' || c == ';';
      result += groups && !is_of_value(text, i, open) ? ' ' : c;
    }
  }
  return result;
}

using Variables = std::map<std::string, std::string>;

/// The word with $NAME, ${NAME} and ${NAME:-default} replaced where they are known.
std::string expanded(const std::string& word, const Variables& variables) {
  std::string result;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '$' || i + 1 == word.size()) {
      result += word[i];
      continue;
    }
    const bool braced = word[i + 1] == '{';
    const std::size_t begin = i + (braced ? 2 : 1);
    std::size_t end = begin;
    while (end < word.size() && is_name(word[end])) ++end;
    const std::size_t close = braced ? word.find('}', end) : end;
    if (close == std::string::npos) return result + word.substr(i);
    const auto known = variables.find(word.substr(begin, end - begin));
    const bool has_preset = braced && word.compare(end, 2, ":-") == 0;
    if (known != variables.end()) {
      result += known->second;
    } else if (has_preset) {
      result += word.substr(end + 2, close - end - 2);
    } else {
      result += word.substr(i, close - i + (braced ? 1 : 0));
    }
    i = braced ? close : close - 1;
  }
  return result;
}

/// NAME=value, as an assignment has it.
std::size_t assignment(const std::string& word) {
  std::size_t end = 0;
  while (end < word.size() && is_name(word[end])) ++end;
  return end > 0 && end < word.size() && word[end] == '=' ? end : std::string::npos;
}

}  // namespace

std::vector<std::string> shell_words(const std::string& text) {
  Variables variables;
  std::vector<std::string> words;
  std::istringstream in(plain(text));
  for (std::string word; in >> word;) {
    word = expanded(word, variables);
    const std::size_t equals = assignment(word);
    if (equals == std::string::npos) {
      words.push_back(word);
    } else if (equals + 1 < word.size()) {
      variables[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return words;
}

std::vector<std::string> words_of_script(const std::string& path) {
  return shell_words(read_source(path)->text);
}

std::string shell_word(const std::string& text) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace stepsim
