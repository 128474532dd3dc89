// What a thread of the host is in at a moment: its operators, annotations and functions of Python.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// The events of a thread that enclose a moment, the outermost first.
using Enclosing = std::span<const HostEvent* const>;

/// Calls `visit` with the number of each moment and what encloses it. `moments` are in order of
/// time.
void visit_moments(const RecordedThread& thread, const std::vector<Nanoseconds>& moments,
                   const std::function<void(std::size_t, Enclosing)>& visit);

/// Where in the program a moment is.
struct HostPlace {
  std::string operation;   ///< the outermost operator; empty: none
  std::string call;        ///< the call of the runtime; empty: none
  std::string annotation;  ///< the innermost range that somebody named, but for steps; empty: none
  std::string
      line;  ///< the innermost function of the user's: "train.py(42): step"; empty: no stacks
  bool operator==(const HostPlace&) const = default;
  auto operator<=>(const HostPlace&) const = default;
};
HostPlace place_of(const Recording& recording, Enclosing enclosing);

/// Whether a function of Python, named as Kineto does, is the user's: not PyTorch's, not one of an
/// installed package or of Python's own library.
bool is_users(std::string_view function);

}  // namespace stepsim
