// The tables of units, and reading and writing by them.
#include "sim/scenario/read/unit.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {
namespace {

constexpr Unit kTimeUnits[] = {
    {"ns", 1e-9}, {"us", 1e-6},    {"ms", 1e-3},     {"s", 1},          {"min", 60},
    {"h", 3600},  {"day", 86'400}, {"days", 86'400}, {"week", 604'800}, {"weeks", 604'800}};
constexpr Unit kByteUnits[] = {{"B", 1},        {"KB", 1e3},     {"MB", 1e6},
                               {"GB", 1e9},     {"TB", 1e12},    {"KiB", 0x1p10},
                               {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
constexpr Unit kBandwidthUnits[] = {
    {"B/s", 1},        {"KB/s", 1e3},     {"MB/s", 1e6},     {"GB/s", 1e9},     {"TB/s", 1e12},
    {"KiB/s", 0x1p10}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}, {"TiB/s", 0x1p40}, {"bit/s", 0.125},
    {"Kbit/s", 125},   {"Mbit/s", 125e3}, {"Gbit/s", 125e6}, {"Tbit/s", 125e9}};
constexpr Unit kFlopUnits[] = {{"FLOP", 1},    {"KFLOP", 1e3},  {"MFLOP", 1e6},
                               {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}};
constexpr Unit kFlopRateUnits[] = {{"FLOP/s", 1},    {"KFLOP/s", 1e3},  {"MFLOP/s", 1e6},
                                   {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};
constexpr Unit kRateUnits[] = {{"samples/s", 1}, {"images/s", 1}, {"tokens/s", 1}};

constexpr Dimension kTime{"a time", "us", "s", kTimeUnits, std::span(kTimeUnits).first(4)};
constexpr Dimension kSize{"a size", "MiB", "B", kByteUnits, kByteUnits};
constexpr Dimension kBandwidth{"a bandwidth", "GB/s", "B/s", kBandwidthUnits,
                               std::span(kBandwidthUnits).first(9)};
constexpr Dimension kWork{"a number of FLOPs", "GFLOP", "FLOP", kFlopUnits, kFlopUnits};
constexpr Dimension kWorkRate{"a compute rate", "TFLOP/s", "FLOP/s", kFlopRateUnits,
                              kFlopRateUnits};
constexpr Dimension kRate{"a rate", "samples/s", "samples/s", kRateUnits,
                          std::span(kRateUnits).first(1)};

/// Spellings of other tools: the unit that is meant, and words for it.
constexpr std::pair<std::string_view, std::string_view> kForeignUnits[] = {
    {"us", " usec usecs \u00b5s \u03bcs "},
    {"ms", " msec msecs "},
    {"s", " sec secs second seconds "},
    {"min", " minute minutes "},
    {"h", " hour hours hr hrs "},
    {"days", " d "},
    {"KB", " K kB "},
    {"MB", " M "},
    {"GB", " G "},
    {"KiB", " Ki "},
    {"MiB", " Mi "},
    {"GiB", " Gi "},
    {"MB/s", " MBps MB "},
    {"GB/s", " GBps GB "},
    {"Mbit/s", " Mbps Mb/s "},
    {"Gbit/s", " Gbps Gb/s gbps "},
    {"Tbit/s", " Tbps Tb/s "},
    {"GFLOP/s", " GFLOPS GFLOPs GFLOP "},
    {"TFLOP/s", " TFLOPS TFLOPs TFLOPs/s TFLOP "},
    {"PFLOP/s", " PFLOPS PFLOPs PFLOPs/s PFLOP "},
};

const Unit* find_unit(const Dimension& dimension, std::string_view name) {
  for (const Unit& unit : dimension.units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

/// The unit that somebody who wrote `name` may have meant.
std::string meant_unit(const Dimension& dimension, const std::string& name) {
  for (const auto& [unit, words] : kForeignUnits) {
    if (find_unit(dimension, unit) == nullptr) continue;
    if (words.find(' ' + name + ' ') != std::string_view::npos) return std::string(unit);
  }
  std::vector<std::string> names;
  for (const Unit& unit : dimension.units) names.emplace_back(unit.name);
  return nearest(name, names).value_or("");
}

[[noreturn]] void refuse_unit(const Dimension& dimension, const LeadingNumber& leading) {
  const std::string meant = meant_unit(dimension, leading.rest);
  std::vector<std::string_view> names;
  for (const Unit& unit : dimension.units) names.push_back(unit.name);
  throw Mistake{
      fmt::format("{} is not a unit of {}", quoted(leading.rest), without_article(dimension.title)),
      meant.empty() ? fmt::format("units: {}", fmt::join(names, ", "))
                    : fmt::format("write \"{} {}\"", leading.number, meant)};
}

}  // namespace

const Dimension& dimension_of(Seconds) { return kTime; }
const Dimension& dimension_of(Bytes) { return kSize; }
const Dimension& dimension_of(Flops) { return kWork; }
const Dimension& dimension_of(BytesPerSecond) { return kBandwidth; }
const Dimension& dimension_of(FlopsPerSecond) { return kWorkRate; }
const Dimension& dimension_of(PerSecond) { return kRate; }

double read_quantity(const std::string& text, const Dimension& dimension) {
  const auto leading = leading_number(text);
  if (!leading)
    refuse(text, dimension.title, fmt::format("write it like \"5 {}\"", dimension.usual));
  if (leading->rest.empty()) {
    const bool large = std::abs(leading->value) >= 1e6;
    std::string proposal =
        fmt::format("write \"{} {}\"", leading->number, large ? dimension.base : dimension.usual);
    // Networks are sold in bits, memories in bytes.
    if (&dimension == &kBandwidth && !large)
      proposal = fmt::format("write \"{0} Gbit/s\" or \"{0} GB/s\"", leading->number);
    throw Mistake{quoted(text) + " has no unit", proposal};
  }
  const Unit* unit = find_unit(dimension, leading->rest);
  if (unit == nullptr) refuse_unit(dimension, *leading);
  const double value = leading->value * unit->factor;
  if (!std::isfinite(value)) throw Mistake{quoted(text) + " is too large", ""};
  return value;
}

std::string write_quantity(double value, const Dimension& dimension) {
  std::string best = fmt::format("{} {}", value, dimension.base);
  if (value == 0) return best;
  for (const Unit& unit : dimension.written) {
    const double number = value / unit.factor;
    const std::string text = fmt::format("{} {}", number, unit.name);
    if (number * unit.factor == value && text.size() <= best.size()) best = text;
  }
  return best;
}

}  // namespace stepsim
