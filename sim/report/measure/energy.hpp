// The electric power of a run, from what its GPUs do, and what a facility spends besides.
//
// A mean GPU's board draws a share of its limit that depends on what it does: it computes, it waits
// in a collective or a transfer, whose kernels poll, or no kernel runs. Hosts and cooling come on
// top: facility = (board + host) * PUE. Shares, their bounds and their sources: energy.cpp; how far
// off that is of measured runs: docs/energy.md.
#pragma once

#include <optional>
#include <string>

#include "sim/core/quantity.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Mean powers of a GPU while the run goes on.
struct RunEnergy {
  int gpus = 0;
  Watts limit;        ///< of a board
  Watts board, host;  ///< host: all else in the machines, per GPU
  double pue = 1;
  CarbonIntensity carbon;
  Energy stated;      ///< what the scenario states; the rest is assumed
  Watts least, most;  ///< bounds of the facility's power: those of all assumed constants together

  /// Board and host, with cooling.
  Watts facility() const { return {(board.value + host.value) * pue}; }
  /// The energy of all GPUs in that time, `idle` of which is the share in which no kernel runs, as
  /// while a run is restarted.
  double kwh(Seconds time, double idle = 0) const;
  double kg_of_co2e(double kwh) const { return kwh * carbon.grams_per_kwh / 1e3; }
};

/// The powers of a run whose mean GPU spends a step as `mean` says, in seconds; absent where the
/// GPU's profile has no power_limit.
std::optional<RunEnergy> energy_of(const Scenario& scenario, const CauseSeconds& mean);

/// "1.32 kWh", "512 MWh".
std::string energy_text(double kwh);
/// "589 kg", "228 t".
std::string carbon_text(double kg);
/// What of the energy was assumed: "host 294 W a GPU, PUE 1.2, 445 g of CO2e a kWh assumed
/// (energy)"; empty where all is stated.
std::string assumed_energy_text(const RunEnergy& energy);

}  // namespace stepsim
