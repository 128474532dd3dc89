// JSON with the place of every value, so that messages can point at it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/problems.hpp"
#include "sim/core/source.hpp"

namespace stepsim {

struct JsonTree {
  enum class Kind { null, flag, number, text, list, map };
  struct Member;

  Kind kind = Kind::null;
  std::string text;  ///< text of a scalar: a string without its quotes, a number as it is written
  Place place;
  std::vector<JsonTree> items;
  std::vector<Member> members;

  bool is(Kind other) const { return kind == other; }
  /// The first member called `name`, or nullptr.
  const JsonTree* find(const std::string& name) const;
};

struct JsonTree::Member {
  std::string name;
  Place place;
  JsonTree value;
};

/// Parses a text. Reports what is no JSON, and a name that a map has twice, to `problems`; returns
/// nothing then.
std::optional<JsonTree> parse_json(const std::shared_ptr<const Source>& source, Problems& problems);

}  // namespace stepsim
