// Numbers as people read them: three digits and the unit that fits.
#include "sim/text/humanise.hpp"

#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace stepsim {
namespace {

struct Unit {
  double size = 1;
  const char* name = "";
};

constexpr std::array kTimeUnits{Unit{1e-9, "ns"}, Unit{1e-6, "us"}, Unit{1e-3, "ms"}, Unit{1, "s"}};
constexpr std::array kByteUnits{Unit{0x1p0, "B"},    Unit{0x1p10, "KiB"}, Unit{0x1p20, "MiB"},
                                Unit{0x1p30, "GiB"}, Unit{0x1p40, "TiB"}, Unit{0x1p50, "PiB"}};
constexpr std::array kCountUnits{Unit{1, ""}, Unit{1e3, "k "}, Unit{1e6, "M "}, Unit{1e9, "G "},
                                 Unit{1e12, "T "}};

/// The smallest unit in which three digits are enough: the first unit for 0, the last for values
/// above all.
Unit fitting(std::span<const Unit> units, double value) {
  for (const Unit& unit : units) {
    if (std::abs(value) < 999.5 * unit.size) return unit;
  }
  return units.back();
}

/// The number of decimals that leaves `digits` digits in all; at a limit the rounded number
/// decides.
int decimals_for(double value, int digits) {
  int decimals = digits - 1;
  double limit = 10;
  while (decimals > 0 && std::abs(value) >= limit - 0.5 * std::pow(10, -decimals)) {
    --decimals;
    limit *= 10;
  }
  return decimals;
}

}  // namespace

std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, decimals_for(value, 3));
}

Figure humanise(Seconds time) {
  const Unit unit = time.base() == 0 ? kTimeUnits.back() : fitting(kTimeUnits, time.base());
  return {three_digits(time.base() / unit.size), unit.name};
}

Figure humanise(Bytes size) {
  const Unit unit = fitting(kByteUnits, size.base());
  const double value = size.base() / unit.size;
  return {unit.size == 1 ? fmt::format("{:.0f}", value) : three_digits(value), unit.name};
}

Figure humanise(double count, const std::string& unit) {
  const Unit prefix = fitting(kCountUnits, count);
  return {three_digits(count / prefix.size), prefix.name + unit};
}

std::string rate_text(BytesPerSecond rate) {
  const double giga = rate.bytes_per_second() / 1e9;
  return giga >= 1000 ? three_digits(giga / 1000) + " TB/s" : three_digits(giga) + " GB/s";
}

std::string percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

std::string grouped(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::size_t first_digit = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first_digit + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string Column::number(double base_units) const {
  return fmt::format("{:.{}f}", base_units / scale, decimals);
}

Column column_for(Seconds largest) {
  const Unit unit = fitting(kTimeUnits, largest.base());
  return {unit.size, decimals_for(largest.base() / unit.size, 4), unit.name};
}

Column column_for(Bytes largest) {
  const Unit unit = fitting(kByteUnits, largest.base());
  return {unit.size, decimals_for(largest.base() / unit.size, 3), unit.name};
}

}  // namespace stepsim
