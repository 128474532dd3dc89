// Every mistake of one load, collected so that one run shows all there is to mend.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"

namespace stepsim {

/// The first 100 are kept, the others counted.
class Problems {
 public:
  /// `path` is the dotted key that the mistake spoils ("parallelism.tensor"); "" when it is none in
  /// particular.
  void add(const Place& place, const std::string& path, std::string message,
           std::string proposal = "");

  /// Whether a mistake was found in this key, in one that holds it or in one that it holds.
  bool spoiled(std::string_view path) const;

  /// Mistakes in this file come first.
  void put_first(const std::string& file) { files_.insert(files_.begin(), file); }

  bool empty() const { return found_.empty(); }

  /// Throws UserError with all mistakes, file by file and line by line, when there are any.
  void throw_if_any() const;

 private:
  std::vector<Diagnostic> found_;
  std::size_t left_out_ = 0;
  std::vector<std::string> files_;  ///< in the order in which they were first cited
  std::set<std::string, std::less<>> paths_;
};

}  // namespace stepsim
