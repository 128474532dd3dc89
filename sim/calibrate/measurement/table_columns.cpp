// Fields of every kind, and the units that names end in.
#include "sim/calibrate/measurement/table_columns.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "sim/calibrate/measurement/point.hpp"

namespace stepsim {

const std::vector<std::string>& field_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"kind",    "seconds",       "p10",         "p90",
                                 "repeats", "launches",      "skipped",     "sm_clock_hz",
                                 "power_w", "alone_seconds", "with_launch", "products"};
    for (std::size_t i = 0; i < kNames<PointKind>.size(); ++i) {
      const Point blank = blank_point(static_cast<PointKind>(i));
      for_each_field(blank, [&](const char* name, const auto&) {
        if (std::ranges::find(all, name) == all.end()) all.emplace_back(name);
      });
    }
    return all;
  }();
  return names;
}

bool is_field(const std::string& name) {
  const auto& names = field_names();
  return std::ranges::find(names, name) != names.end();
}

std::optional<TableColumn> with_unit(const std::string& name) {
  struct Unit {
    const char* suffix;
    double factor;
  };
  constexpr Unit kTimes[] = {{"_s", 1}, {"_ms", 1e-3}, {"_us", 1e-6}, {"_ns", 1e-9}};
  constexpr Unit kSizes[] = {{"_bytes", 1}, {"_kib", 0x1p10}, {"_mib", 0x1p20}, {"_gib", 0x1p30},
                             {"_kb", 1e3},  {"_mb", 1e6},     {"_gb", 1e9}};
  static const std::map<std::string, std::string> kTimeNames{
      {"time", "seconds"}, {"seconds", "seconds"}, {"latency", "seconds"},
      {"p10", "p10"},      {"p90", "p90"},         {"alone", "alone_seconds"}};
  for (const Unit& unit : kTimes) {
    if (!name.ends_with(unit.suffix)) continue;
    const auto found =
        kTimeNames.find(name.substr(0, name.size() - std::string(unit.suffix).size()));
    if (found != kTimeNames.end()) return TableColumn{found->second, unit.factor};
  }
  for (const Unit& unit : kSizes) {
    const std::string base =
        name.substr(0, name.size() - std::min(name.size(), std::string(unit.suffix).size()));
    if (name.ends_with(unit.suffix) && (base == "size" || base == "bytes"))
      return TableColumn{"bytes", unit.factor};
  }
  return {};
}

}  // namespace stepsim
