// The constants in which machines of one kind differ most, which a few measured steps can tell.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// A constant that differs from machine to machine more than from model to model.
struct MachineConstant {
  const char* what;
  double known_sd;  ///< of its natural logarithm among machines of one kind
  /// Makes the constant so many times as slow; false: the scenario has none.
  bool (*slow)(Scenario& scenario, double times);
  /// What states it as it is now: "host.speed=0.71".
  std::vector<std::string> (*settings)(const Scenario& scenario);
};

inline constexpr std::size_t kMachineConstants = 3;
extern const std::array<MachineConstant, kMachineConstants> machine_constants;

/// How many times as slow each of them is.
using TimesAsSlow = std::array<double, kMachineConstants>;
inline constexpr TimesAsSlow kAsTheyAre{1, 1, 1};

}  // namespace stepsim
