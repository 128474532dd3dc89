// A part of a sweep's points, for one machine of several: every n-th, so that parts are alike.
#pragma once

#include <cstdint>
#include <string>

namespace stepsim {

/// Part i of n, counted from 1.
struct Shard {
  std::int64_t part = 1, of = 1;

  bool is_all() const { return of == 1; }
  bool has(std::int64_t i) const { return i % of == part - 1; }
  /// Of so many points.
  std::int64_t share(std::int64_t points) const {
    return points / of + (points % of >= part ? 1 : 0);
  }
};

/// "2/8"; all for an empty text. Throws UserError for another one.
Shard shard_of(const std::string& text);

/// The file of results of a scenario's sweeps; each part has its own, so that machines with a
/// common folder do not wait for each other.
std::string default_store(const std::string& scenario, const Shard& shard);

}  // namespace stepsim
