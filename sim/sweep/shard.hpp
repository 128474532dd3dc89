// A part of a sweep's points, for one machine of several. Of every n points in a row each part has
// one, in an order drawn anew each time: a fixed one would give a part all points of one value
// where the last axis has as many as there are parts.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/random.hpp"

namespace stepsim {

/// Part i of n, counted from 1.
struct Shard {
  std::int64_t part = 1, of = 1;

  bool is_all() const { return of == 1; }
  bool has(std::int64_t i) const { return (i + drawn(i / of)) % of == part - 1; }
  /// Of so many points.
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

/// "2/8"; all for an empty text. Throws UserError for another one.
Shard shard_of(const std::string& text);

/// The file of results of a scenario's sweeps; each part has its own, so that machines with a
/// common folder do not wait for each other.
std::string default_store(const std::string& scenario, const Shard& shard);

}  // namespace stepsim
