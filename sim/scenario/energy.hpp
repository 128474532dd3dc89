// Electric power: what a board may draw, and what a facility spends besides.
#pragma once

#include <optional>

namespace stepsim {

struct Watts {
  double value = 0;
  bool operator==(const Watts&) const = default;
};

/// CO2 equivalents of a kilowatt-hour.
struct CarbonIntensity {
  double grams_per_kwh = 0;
  bool operator==(const CarbonIntensity&) const = default;
};

/// What the electricity of a run goes by; what is absent is assumed
/// (sim/report/measure/energy.hpp).
struct Energy {
  std::optional<Watts> host;  ///< power of all but the boards, per GPU
  std::optional<double> pue;  ///< power of the facility over that of its machines
  std::optional<CarbonIntensity> carbon;

  bool is_stated() const { return host || pue || carbon; }
  bool operator==(const Energy&) const = default;
};

}  // namespace stepsim
