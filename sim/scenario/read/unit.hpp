// Units: the spellings of each dimension, and exact text for every quantity.
//
// Every quantity in a file carries a unit: `2 us`, `80 GiB`, `900 GB/s`, `400 Gbit/s`, `312
// TFLOP/s`, `6 GFLOP`. KB = 1000 B, KiB = 1024 B, 8 bit/s = 1 B/s.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/core/quantity.hpp"
#include "sim/scenario/read/number.hpp"

namespace stepsim {

struct Unit {
  std::string_view name;
  double factor;  ///< to the base unit
};

/// Everything that reading and writing need to know about one dimension.
struct Dimension {
  std::string_view title;         ///< "a bandwidth"
  std::string_view usual;         ///< unit of the proposal for a small bare number
  std::string_view base;          ///< unit of the proposal for a large bare number; its factor is 1
  std::span<const Unit> units;    ///< accepted
  std::span<const Unit> written;  ///< accepted units that are written, too, from small to large
};

const Dimension& dimension_of(Seconds);
const Dimension& dimension_of(Bytes);
const Dimension& dimension_of(Flops);
const Dimension& dimension_of(BytesPerSecond);
const Dimension& dimension_of(FlopsPerSecond);
const Dimension& dimension_of(PerSecond);

/// The value in base units. Throws Mistake for a missing or unknown unit, with what to write
/// instead.
double read_quantity(const std::string& text, const Dimension& dimension);

/// The shortest of all texts that read back as exactly this value; of equally short ones the larger
/// unit.
std::string write_quantity(double value, const Dimension& dimension);

}  // namespace stepsim
