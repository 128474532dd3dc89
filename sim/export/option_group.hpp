// An array of a shell script that has the options of a command, each with its values.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/shell_word.hpp"

namespace stepsim {

/// An array of the script: options, each with its values.
class OptionGroup {
 public:
  explicit OptionGroup(std::string name) : name_(std::move(name)) {}

  void flag(const std::string& option) { add({option}); }
  void flag_if(bool condition, const std::string& option) {
    if (condition) add({option});
  }
  template <class T>
  void value(const std::string& option, const T& value) {
    add({option, fmt::format("{}", value)});
  }
  void values(const std::string& option, std::vector<std::string> words) {
    words.insert(words.begin(), option);
    add(std::move(words));
  }

  const std::string& name() const { return name_; }
  const std::vector<std::string>& words() const { return words_; }
  std::string text() const { return name_ + "=(\n" + lines_ + ")\n"; }

 private:
  void add(std::vector<std::string> words) {
    std::vector<std::string> quoted;
    std::ranges::transform(words, std::back_inserter(quoted), shell_word);
    lines_ += fmt::format("  {}\n", fmt::join(quoted, " "));
    std::ranges::move(words, std::back_inserter(words_));
  }

  std::string name_, lines_;
  std::vector<std::string> words_;
};

}  // namespace stepsim
