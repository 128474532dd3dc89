// Computes the power of boards by what they do, and of hosts and cooling beside them.
#include "sim/report/measure/energy.hpp"

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

/// A constant with the least and the most that its sources leave possible.
struct Bounded {
  double value, least, most;
};

/// Kernels run: share of the board's limit. NVML beside GEMMs at settled clocks
/// (ai-dynamo/aiconfigurator@095f58a, vllm 0.22.0): bf16 on an H200, the quarter with the highest
/// rates, 649 to 659 W of 700; on a B200 951 to 963 W of 1000. Least: OLMo 2 takes over 85 % of it
/// in training (arXiv 2503.05804, section 4), waits included. Most: the limit.
constexpr Bounded kComputing{0.94, 0.85, 1};
/// Kernels poll for a collective or a transfer. Derived from mlcommons/training_results_v4.0@6fe9543
/// (smc-ac-power): nodes of 8 H100 that fine-tune Llama 2 70B together draw 1.02 kW (8 nodes) and
/// 1.34 kW (64) less than one that does so alone, at 0.74 and 0.67 of its rate, so that a GPU draws
/// 168 and 150 W of 700 in the time lost; ResNet-50 on 8 nodes, 1.16 kW less at 0.66, 231 W.
constexpr Bounded kPolling{0.25, 0.20, 0.34};
/// No kernel runs. OLMo 2 falls to 15 % of the limit while it writes checkpoints (arXiv 2503.05804,
/// section 4). Bounds are judgement: a third less, a third more.
constexpr Bounded kIdle{0.15, 0.10, 0.20};
/// All but the boards of a machine, over their limits. Least: H100 in immersion, 7.11 kW a node in
/// six trainings (mlcommons/training_results_v4.0@6fe9543, smc-ac-power, single nodes), less 0.94
/// of 5.6 kW. Most: an air-cooled HGX H100, 8.48 kW with all boards at 5.6 kW (arXiv 2412.08602).
/// 0.42 is their middle; 76 % of 10.2 kW, a node of that kind in training (arXiv 2506.14551), gives
/// 0.44. All are of H100: for other GPUs the share is taken over.
constexpr Bounded kHost{0.42, 0.33, 0.51};
/// PUE. 1.2 of OLMo 2 (arXiv 2503.05804) and of BLOOM's centre (arXiv 2211.02001); least: 1.08, of
/// Meta's centres (Meta, Sustainability Report 2023); most: 1.56, the mean of the Uptime Institute's
/// survey of 2024.
constexpr Bounded kPue{1.2, 1.08, 1.56};
/// The world's mean of 2024: IEA, Electricity 2025.
constexpr double kGramsPerKwh = 445;

enum class Doing { computing, polling, idle };

Doing doing(Cause cause) {
  switch (cause) {
    case Cause::forward:
    case Cause::recompute:
    case Cause::backward:
    case Cause::optimizer:
    case Cause::contention:
      return Doing::computing;
    case Cause::stall:
    case Cause::batch_wait:
    case Cause::h2d:
    case Cause::cpu_work:
    case Cause::recompilation:
    case Cause::garbage_collection:
    case Cause::offload:
    case Cause::checkpoint:
    case Cause::launch_gap:
    case Cause::count_:
      return Doing::idle;
    default:  // waits for what is in flight along an axis, for another stage, for another rank
      return Doing::polling;
  }
}

/// The constants of one scenario, each with its bounds; the power of a facility is a function of
/// their values.
struct Constants {
  Bounded computing, polling, idle, host, pue;
};
constexpr std::array kMembers{&Constants::computing, &Constants::polling, &Constants::idle,
                              &Constants::host, &Constants::pue};

/// Shares of a step, by what the GPU does.
struct Shares {
  double computing = 0, polling = 0, idle = 0;
};

double board_of(const Constants& c, const Shares& s, double limit) {
  return limit *
         (c.computing.value * s.computing + c.polling.value * s.polling + c.idle.value * s.idle);
}
double facility_of(const Constants& c, const Shares& s, double limit) {
  return (board_of(c, s, limit) + c.host.value * limit) * c.pue.value;
}

/// Each unit is a thousand of the one before.
std::string in_units(double value, const std::array<std::string_view, 5>& units) {
  std::size_t i = 0;
  for (; value >= 999.5 && i + 1 < units.size(); ++i) value /= 1e3;
  return fmt::format("{} {}", three_digits(value), units.at(i));
}

Bounded known(double value) { return {value, value, value}; }

}  // namespace

double RunEnergy::kwh(Seconds time, double idle) const {
  const double without_kernels = (kIdle.value * limit.value + host.value) * pue;
  const double watts = (1 - idle) * facility().value + idle * without_kernels;
  return watts * gpus * time.seconds() / 3.6e6;
}

std::optional<RunEnergy> energy_of(const Scenario& scenario, const CauseSeconds& mean) {
  const double limit = scenario.cluster.gpu.power_limit.value;
  const double step = std::accumulate(mean.begin(), mean.end(), 0.0);
  if (limit <= 0 || step <= 0) return std::nullopt;
  Shares shares;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const Doing what = doing(static_cast<Cause>(i));
    (what == Doing::computing ? shares.computing
     : what == Doing::polling ? shares.polling
                              : shares.idle) += mean.at(i) / step;
  }
  const Energy& stated = scenario.energy;
  const Constants middle{kComputing, kPolling, kIdle,
                         stated.host ? known(stated.host->value / limit) : kHost,
                         stated.pue ? known(*stated.pue) : kPue};
  const double facility = facility_of(middle, shares, limit);
  // The constants are independent of each other, so that squares of what each changes add up.
  double below = 0, above = 0;
  for (const auto member : kMembers) {
    Constants least = middle, most = middle;
    (least.*member).value = (middle.*member).least;
    (most.*member).value = (middle.*member).most;
    below += std::pow(facility - facility_of(least, shares, limit), 2);
    above += std::pow(facility_of(most, shares, limit) - facility, 2);
  }
  return RunEnergy{.gpus = scenario.cluster.gpus(),
                   .limit = {limit},
                   .board = {board_of(middle, shares, limit)},
                   .host = {middle.host.value * limit},
                   .pue = middle.pue.value,
                   .carbon = stated.carbon.value_or(CarbonIntensity{kGramsPerKwh}),
                   .stated = stated,
                   .least = {facility - std::sqrt(below)},
                   .most = {facility + std::sqrt(above)}};
}

std::string energy_text(double kwh) {
  return in_units(kwh * 1e3, {"Wh", "kWh", "MWh", "GWh", "TWh"});
}

std::string carbon_text(double kg) { return in_units(kg * 1e3, {"g", "kg", "t", "kt", "Mt"}); }

std::string assumed_energy_text(const RunEnergy& energy) {
  std::vector<std::string> parts;
  if (!energy.stated.host) parts.push_back(fmt::format("host {:.0f} W a GPU", energy.host.value));
  if (!energy.stated.pue) parts.push_back(fmt::format("PUE {:.3g}", energy.pue));
  if (!energy.stated.carbon)
    parts.push_back(fmt::format("{:.0f} g of CO2e a kWh", energy.carbon.grams_per_kwh));
  return parts.empty() ? "" : fmt::format("{} assumed (energy)", fmt::join(parts, ", "));
}

}  // namespace stepsim
