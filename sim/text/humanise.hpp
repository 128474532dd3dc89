// Numbers as people read them: three digits and the unit that fits, the same bytes in every locale.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/quantity.hpp"

namespace stepsim {

/// A number and its unit, apart so that columns can align the numbers.
struct Figure {
  std::string number;
  std::string unit;
  std::string text() const { return number + " " + unit; }
};

/// A number in three digits: 3.97, 41.2, 138; in more digits only above 1000.
std::string three_digits(double value);

/// A time: 41.2 ms, 3.97 s. Seconds are not turned into minutes.
Figure humanise(Seconds time);
/// A size: 61.0 GiB, in binary units from B to PiB.
Figure humanise(Bytes size);
/// A count of something: 1.20 M, 112 k, 54.7. `unit` follows the prefix: "tokens/s" gives "M
/// tokens/s".
Figure humanise(double count, const std::string& unit);

/// A rate: "48.5 GB/s".
std::string rate_text(BytesPerSecond rate);

/// A share in per cent: 44.2 % for 0.442.
std::string percent(double fraction);
/// A whole number with its thousands apart: 1,536 for 1536.
std::string grouped(std::int64_t count);

/// The common unit and number of decimals of numbers that are compared with each other.
struct Column {
  double scale = 1;  ///< base units in one unit of the column
  int decimals = 0;
  const char* unit = "";
  std::string number(double base_units) const;
  std::string text(double base_units) const { return number(base_units) + " " + unit; }
};

/// The column for times up to `largest`, which has four digits: 27.45 s, and beside it 0.84 s.
Column column_for(Seconds largest);
/// The column for sizes up to `largest`, which has three digits: 30.5 GiB, and beside it 0.2 GiB.
Column column_for(Bytes largest);

}  // namespace stepsim
