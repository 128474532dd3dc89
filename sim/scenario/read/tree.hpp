// A YAML text as plain nested values, each with its place.
//
// Aliases are expanded, nesting and the number of values are bounded, duplicate keys are kept (the
// map reader reports them). Merge keys (`<<`) and tags are not supported: the first is left as a
// key for the reader to reject, the second is a mistake. This is the only header's .cpp that sees
// yaml-cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/problems.hpp"
#include "sim/core/source.hpp"

namespace stepsim {

struct Entry;

struct Tree {
  enum class Kind { empty, scalar, list, map };  ///< empty: nothing, `null` or `~`
  Kind kind = Kind::empty;
  std::string scalar;
  std::vector<Tree> items;     ///< items of a list
  std::vector<Entry> entries;  ///< entries of a map, in the order of the text
  Place place;
  /// A map whose keys were set one by one on the command line: what it does not have stays as it
  /// is, and a name that it is merged with becomes its base.
  bool is_opened = false;

  bool is_map() const { return kind == Kind::map; }
  /// The first entry of that key, or nullptr.
  const Entry* find(std::string_view key) const;
  Entry* find(std::string_view key);
  void remove(std::string_view key);
};

struct Entry {
  std::string key;
  Place key_place;
  Tree value;
};

inline constexpr std::size_t kDeepest = 64;  ///< maps and lists within each other
/// The most values of one text; an alias counts as often as it is used.
inline constexpr std::size_t kMostValues = 20'000;

/// Parses one document. Mistakes of syntax go to `problems` (spoiling `path`), and the result is
/// empty.
std::optional<Tree> parse_tree(std::shared_ptr<const Source> source, const std::string& path,
                               Problems& problems);

/// `over` on top of `base`: maps are merged key by key, everything else is replaced.
Tree merged(Tree base, const Tree& over);

/// `name` as `{base: name}`.
Tree based_on(Tree name);

/// A map without entries at that place.
Tree empty_map(const Place& place);

/// "a map", "a list", "a value", "nothing": for messages.
std::string_view title_of(Tree::Kind kind);

}  // namespace stepsim
