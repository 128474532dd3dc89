// A part of a sweep's points, for one machine of several. Each part has one of every n points in a
// row, in an order that is drawn anew each time: a fixed order would give a part all points of one
// value where the last axis has as many as there are parts.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/random.hpp"

namespace stepsim {

/// Part `part` of `of` parts, counted from 1.
struct Shard {
  std::int64_t part = 1, of = 1;

  bool is_all() const { return of == 1; }
  bool has(std::int64_t i) const { return (i + drawn(i / of)) % of == part - 1; }
  /// How many of the first `points` points the part has.
  std::int64_t share(std::int64_t points) const {
    std::int64_t count = points / of;
    for (std::int64_t i = count * of; i < points; ++i) count += has(i) ? 1 : 0;
    return count;
  }

 private:
  std::int64_t drawn(std::int64_t row) const {
    const auto bits = RandomKey(static_cast<std::uint64_t>(row)).bits();
    return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(of));
  }
};

/// The shard that a text names: "2/8"; all points for an empty text. Throws UserError for any
/// other.
Shard shard_of(const std::string& text);

/// The file in which the sweeps of a scenario keep their results. Each part has a file of its own,
/// so that machines with a common folder do not wait for each other.
std::string default_store(const std::string& scenario, const Shard& shard);

}  // namespace stepsim
