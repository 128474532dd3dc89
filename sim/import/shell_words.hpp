// The words of a launch script, as far as they can be known without a shell.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/core/source.hpp"

namespace stepsim {

struct ShellWord {
  std::string text;  ///< with variables replaced
  Place place;
};

struct Script {
  std::vector<ShellWord> words;
  /// What the script leaves open, and what is taken: values of a variable that is assigned twice.
  std::vector<std::pair<std::string, std::string>> notes;
};

/// All words of the script, in order: comments, quotes and what is printed by echo removed, lines
/// that end in a backslash joined, variables that the script assigns replaced. Throws UserError
/// where it launches two programs.
Script read_script(const std::shared_ptr<const Source>& source);

/// The words of a text alone.
std::vector<std::string> shell_words(const std::string& text);

}  // namespace stepsim
