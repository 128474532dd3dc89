// Ids and moments as nsys writes them.
//
// Ids of processes and threads are packed: globalTid has the thread in its low 24 bits, and the
// process in the 24 bits above them; globalPid is the same with a thread of 0 (SQLite Export Schema
// Reference, "Serialized process and thread identifiers").
#pragma once

#include <cstdint>
#include <optional>

#include "sim/recording/interval_set.hpp"
#include "sim/recording/nsys/nsys_database.hpp"

namespace stepsim {

inline constexpr std::uint64_t kThreadBits = 24;
inline constexpr std::uint64_t kIdMask = (1U << kThreadBits) - 1;

/// The globalPid of a globalTid.
inline std::uint64_t process_of(std::uint64_t global_id) { return global_id & ~kIdMask; }
/// The operating system's numbers.
inline std::uint64_t process_number(std::uint64_t global_id) {
  return global_id >> kThreadBits & kIdMask;
}
inline std::uint64_t thread_number(std::uint64_t global_id) { return global_id & kIdMask; }

/// Moments are within this of nsys' zero, and that is of 1970: differences fit an integer.
inline constexpr Nanoseconds kLatest = Nanoseconds{1} << 61;

/// From column 0 to column 1, which are `start` and `end`. Nothing where one is missing, where the
/// end is earlier, or where they are further from zero than kLatest.
inline std::optional<Interval> moments_in(const NsysRow& row) {
  if (!row.has(0) || !row.has(1)) return std::nullopt;
  const Interval time{row.number(0), row.number(1)};
  if (time.start < -kLatest || time.end > kLatest || time.end < time.start) return std::nullopt;
  return time;
}

}  // namespace stepsim
