// Where the keys of a scenario stand, by their dotted paths.
//
// A scenario has hundreds of keys, most of them in profiles. What was read once for many scenarios
// (parts_read.hpp) is not copied into each: they share it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/core/source.hpp"

namespace stepsim {

/// Places of keys, sorted by their paths.
using PlacesOfPart = std::vector<std::pair<std::string, Place>>;

class Places {
 public:
  /// The place of the key, or nullptr where it was not read.
  const Place* find(std::string_view path) const;
  /// The same; no place where the key was not read.
  Place at(std::string_view path) const;
  /// Replaces what was known of the key.
  void set(std::string path, const Place& place);
  /// Adds those of a part. REQUIRES: none of its keys has a place yet.
  void share(std::shared_ptr<const PlacesOfPart> part) { parts_.push_back(std::move(part)); }

  /// All places of keys whose path begins so.
  PlacesOfPart beginning_with(std::string_view start) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, Place, Hash, std::equal_to<>> own_;
  std::vector<std::shared_ptr<const PlacesOfPart>> parts_;
};

}  // namespace stepsim
