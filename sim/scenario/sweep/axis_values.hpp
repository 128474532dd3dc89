// The values of an axis as people write them: lists, ranges, geometric ranges.
//
//   1, 2, 4            each of them
//   1..8               whole numbers from 1 to 8
//   10..100+10         in steps of 10
//   1 MiB..256 MiB*2   doubling; a unit at one end holds for both
//   1:16, 2:8          of two linked keys, in pairs
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/problems.hpp"
#include "sim/scenario/read/tree.hpp"
#include "sim/scenario/sweep/axis.hpp"

namespace stepsim {

inline constexpr std::size_t kMostAxisValues = 100'000;

/// What a text with a unit of any dimension, or none, says in base units; nothing for a word.
std::optional<double> number_in_base_units(const std::string& text);

/// How a range goes on where it does not say: 1..8 by one, or 1, 2, 4, 8.
enum class UsualStep : std::uint8_t { counts, doubles };

/// Adds the values that a text of the command line says. Mistakes go to the problems.
void add_values(const std::string& text, const Place& place, SweepAxis& axis, Problems& problems,
                UsualStep usual = UsualStep::counts);

/// Adds the values that a value in a file says: a list, or a text with ranges.
void add_values(const Tree& value, SweepAxis& axis, Problems& problems);

/// `path=values`, `path,path=values` of `--vary`.
SweepAxis parse_vary(const std::string& text, Problems& problems);

}  // namespace stepsim
