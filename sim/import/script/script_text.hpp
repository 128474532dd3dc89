// Where something stands in a script that bash has evaluated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/source.hpp"

namespace stepsim {

/// Files that bash read, the script first; comments count as nothing.
class ScriptText {
 public:
  explicit ScriptText(std::vector<std::shared_ptr<const Source>> sources);

  /// The last place of a whole word, "pretrain_gpt.py"; no place where no file has it, for it may
  /// have come of variables.
  Place of_word(std::string_view word) const;
  /// The place of an option, however its name is written, and of its value. Where there are several
  /// it is one that the value follows, else the last.
  std::pair<Place, Place> of_option(std::string_view option, std::string_view value) const;

  const std::vector<std::shared_ptr<const Source>>& sources() const { return sources_; }
  /// The text of a source, with spaces in place of comments.
  const std::string& code(std::size_t source) const { return code_[source]; }

 private:
  std::vector<std::shared_ptr<const Source>> sources_;
  std::vector<std::string> code_;
};

}  // namespace stepsim
