// All mistakes of one load, collected so that one run shows everything there is to mend.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"

namespace stepsim {

/// A list of mistakes. It keeps the first 100 and counts the rest.
class Problems {
 public:
  /// Adds a mistake. `path` is the dotted key that it spoils ("parallelism.tensor"); "" when it
  /// spoils none in particular.
  void add(const Place& place, const std::string& path, std::string message,
           std::string proposal = "");

  /// Whether a mistake was found in the key `path`, in a map that holds it or in a key inside it.
  bool spoiled(std::string_view path) const;

  /// Lists the mistakes of `file` before those of other files.
  void put_first(const std::string& file) { files_.insert(files_.begin(), file); }

  bool empty() const { return found_.empty(); }

  /// Throws UserError with all mistakes, by file and by line, when there are any.
  void throw_if_any() const;

 private:
  std::vector<Diagnostic> found_;
  std::size_t left_out_ = 0;
  std::vector<std::string> files_;  ///< files in the order in which a mistake first cited them
  std::set<std::string, std::less<>> paths_;
};

}  // namespace stepsim
