// Numbers as people read them: three digits and the unit that fits. The same bytes in every locale.
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

/// Three digits: 3.97, 41.2, 138; more only above 1000.
std::string three_digits(double value);

/// 41.2 ms, 3.97 s; seconds are not turned into minutes.
Figure humanise(Seconds time);
/// 61.0 GiB; binary units, from B to PiB.
Figure humanise(Bytes size);
/// 1.20 M of something, 112 k, 54.7; `unit` follows the prefix ("tokens/s" gives "M tokens/s").
Figure humanise(double count, const std::string& unit);

/// "48.5 GB/s"
std::string rate_text(BytesPerSecond rate);

/// 44.2 % from 0.442.
std::string percent(double fraction);
/// 1,536 from 1536.
std::string grouped(std::int64_t count);

/// One unit and one number of decimals for numbers that are compared with each other.
struct Column {
  double scale = 1;  ///< base units of one unit
  int decimals = 0;
  const char* unit = "";
  std::string number(double base_units) const;
  std::string text(double base_units) const { return number(base_units) + " " + unit; }
};

/// Four digits for the largest time: 27.45 s, and beside it 0.84 s.
Column column_for(Seconds largest);
/// Three digits for the largest size: 30.5 GiB, and beside it 0.2 GiB.
Column column_for(Bytes largest);

}  // namespace stepsim
