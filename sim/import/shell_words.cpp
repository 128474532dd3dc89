// Splitting scripts into words: quotes and parentheses only group, so they are spaces here, but the
// parentheses of a list's expression, as in ([0]*3+[1]*58), and quotes around a single word.
#include "sim/import/shell_words.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// A word before variables are replaced.
struct RawWord {
  std::string text;
  int line = 1, column = 1;
  int command = 0;  ///< words of one line, or up to a semicolon, have the same
};

class Splitter {
 public:
  explicit Splitter(const std::string& text) : text_(text) {}

  std::vector<RawWord> words() {
    while (at_ < text_.size()) {
      step();
      advance(1);
    }
    end_word();
    return std::move(words_);
  }

 private:
  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }
  bool within_quotes() const { return at_ < close_; }

  void step() {
    const char c = text_[at_];
    if (at_ == close_ && close_ > 0) return end_word();
    if (c == '#' && !within_quotes() && (at_ == 0 || is_space(text_[at_ - 1])))
      return advance(std::min(text_.find('\n', at_), text_.size()) - at_ - 1);
    if (c == '\\' && (next() == '\n' || next() == '"' || next() == '\'')) {
      end_word();
      return advance(1);
    }
    if (c == '$' && next() == '(') return read_substitution();
    if (!within_quotes() && (c == '"' || c == '\'')) return read_quote(c);
    const bool groups = c == '"' || c == '\'' || c == '(' || c == ')' || c == ';';
    if ((groups && !is_of_value(c)) || is_space(c)) {
      end_word();
      if (!within_quotes() && (c == ';' || c == '\n')) ++command_;
    } else {
      append(std::string(1, c));
    }
  }

  void advance(std::size_t count) {
    for (; count > 0; --count, ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      line_start_ = at_ + 1;
    }
  }

  void append(const std::string& text) {
    if (word_.text.empty()) word_ = {"", line_, static_cast<int>(at_ - line_start_) + 1, command_};
    word_.text += text;
  }
  void end_word() {
    if (!word_.text.empty()) words_.push_back(std::move(word_));
    word_.text.clear();
  }

  /// Whether the parenthesis belongs to a value.
  bool is_of_value(char c) {
    if (c == '(') {
      open_.push_back(next() == '[');
      return open_.back();
    }
    if (c != ')' || open_.empty()) return false;
    const bool was_of_value = open_.back();
    open_.pop_back();
    return was_of_value;
  }

  /// $(...) on one line is a part of the word, which nobody knows here.
  void read_substitution() {
    std::size_t end = at_ + 1;
    int depth = 0;
    do {
      depth += text_[end] == '(' ? 1 : text_[end] == ')' ? -1 : 0;
      ++end;
    } while (depth > 0 && end < text_.size() && text_[end] != '\n');
    if (depth > 0) return append("$");
    append(text_.substr(at_, end - at_));
    advance(end - at_ - 1);
  }

  /// A quoted word is a part of the word that it stands in; of several words, quotes are spaces,
  /// and a '#' among them begins no comment. Options in a variable are words where they stand.
  void read_quote(char quote) {
    std::size_t close = text_.find(quote, at_ + 1);
    while (quote == '"' && close != std::string::npos && text_[close - 1] == '\\')
      close = text_.find(quote, close + 1);
    if (close == std::string::npos) return end_word();
    const std::string inside = text_.substr(at_ + 1, close - at_ - 1);
    const bool is_one_word = std::none_of(inside.begin(), inside.end(), is_space);
    if (is_one_word && (word_.text.empty() || !inside.starts_with('-'))) {
      if (!inside.empty()) append(inside);
      return advance(close - at_);
    }
    end_word();
    close_ = close;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_start_ = 0;
  int command_ = 0;
  std::size_t close_ = 0;  ///< where the quote of several words ends
  std::vector<bool> open_;
  RawWord word_;
  std::vector<RawWord> words_;
};

/// NAME=value, as an assignment has it.
std::size_t assignment(const std::string& word) {
  std::size_t end = 0;
  while (end < word.size() && is_name(word[end])) ++end;
  return end > 0 && end < word.size() && word[end] == '=' ? end : std::string::npos;
}

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_launcher(const std::string& word) {
  const std::string name = word.substr(word.rfind('/') + 1);
  return name.starts_with("python") || is_one_of(name, {"torchrun", "deepspeed"});
}

class ScriptReader {
 public:
  explicit ScriptReader(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  Script read() {
    for (const RawWord& raw : Splitter(source_->text).words()) {
      if (raw.command != command_) begin_command(raw.command);
      if (is_one_of(raw.text, {"&&", "||", "|", "&"})) {
        begin_command(command_);
        continue;
      }
      if (is_first_ && is_one_of(raw.text, {"then", "do", "else"})) continue;
      if (is_first_) prints_ = is_one_of(raw.text, {"echo", "printf"});
      is_first_ = false;
      if (!prints_) take(raw);
    }
    return std::move(script_);
  }

 private:
  struct Value {
    std::string text;
    Place place;
  };

  void begin_command(int command) {
    command_ = command;
    is_first_ = true;
    prints_ = has_launcher_ = has_program_ = false;
  }

  void take(const RawWord& raw) {
    const Place place{source_, raw.line, raw.column};
    const std::size_t equals = assignment(raw.text);
    if (equals == std::string::npos) {
      script_.words.push_back({expanded(raw.text, ""), place});
      return find_launch(script_.words.back());
    }
    const std::string name = raw.text.substr(0, equals);
    const std::string value = expanded(raw.text.substr(equals + 1), name);
    if (!value.empty()) variables_[name].push_back({value, place});
  }

  /// A launcher with the program that it starts. Options of two programs cannot be told apart.
  void find_launch(const ShellWord& word) {
    if (is_launcher(word.text)) has_launcher_ = true;
    if (has_program_ || !has_launcher_ || !word.text.ends_with(".py")) return;
    has_program_ = true;
    if (launch_.line == 0) {
      launch_ = word.place;
      return;
    }
    throw UserError(
        {Diagnostic{.file = source_->name,
                    .line = word.place.line,
                    .column = word.place.column,
                    .message = fmt::format(
                        "a second program is launched here, the first is on line {}", launch_.line),
                    .source_line = source_->line(word.place.line),
                    .proposal = "leave one of them: a scenario is one run"}});
  }

  /// The word with $NAME, ${NAME} and ${NAME:-default} replaced where they are known. What is
  /// assigned to `itself` may use its earlier value.
  std::string expanded(const std::string& word, const std::string& itself) {
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
      const std::string name = word.substr(begin, end - begin);
      const auto known = variables_.find(name);
      const bool has_preset = braced && word.compare(end, 2, ":-") == 0;
      if (known != variables_.end()) {
        if (name != itself) note_values(name, known->second);
        result += known->second.back().text;
      } else if (has_preset) {
        result += word.substr(end + 2, close - end - 2);
      } else {
        result += word.substr(i, close - i + (braced ? 1 : 0));
      }
      i = braced ? close : close - 1;
    }
    return result;
  }

  void note_values(const std::string& name, const std::vector<Value>& values) {
    const Value& taken = values.back();
    const auto other = std::find_if(values.begin(), values.end(),
                                    [&](const Value& value) { return value.text != taken.text; });
    if (other == values.end() || !noted_.insert(name).second) return;
    const auto shown = [&](const Value& value) {
      return fmt::format("{}={} ({}:{}:{})", name, value.text, source_->name, value.place.line,
                         value.place.column);
    };
    script_.notes.emplace_back(shown(*other), shown(taken) + ", assigned after it, is taken");
  }

  std::shared_ptr<const Source> source_;
  Script script_;
  std::map<std::string, std::vector<Value>> variables_;
  std::set<std::string> noted_;
  Place launch_;  ///< place of the first program; line 0: none yet
  int command_ = 0;
  bool is_first_ = true;  ///< the next word is its command's first
  bool prints_ = false, has_launcher_ = false, has_program_ = false;  ///< the command
};

}  // namespace

Script read_script(const std::shared_ptr<const Source>& source) {
  return ScriptReader(source).read();
}

std::vector<std::string> shell_words(const std::string& text) {
  std::vector<std::string> words;
  for (ShellWord& word : read_script(std::make_shared<Source>(Source{"text", "", text})).words)
    words.push_back(std::move(word.text));
  return words;
}

}  // namespace stepsim
