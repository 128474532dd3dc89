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
/// 170 and 144 W of 700 in the time lost; ResNet-50 on 8 nodes, 1.16 kW less at 0.66, 235 W.
constexpr Bounded kPolling{0.25, 0.20, 0.34};
/// No kernel runs. OLMo 2 falls to 15 % of the limit while it writes checkpoints (arXiv 2503.05804,
/// section 4). Least: 0.10, boards without a process.
constexpr Bounded kIdle{0.15, 0.10, 0.20};
/// All but the boards of a machine, over their limits. Least: H100 in immersion, 7.11 kW a node in
/// six trainings (mlcommons/training_results_v4.0@6fe9543, smc-ac-power, single nodes), less 0.94
/// of 5.6 kW. Most: an air-cooled HGX H100, 8.48 kW with all boards at 5.6 kW (arXiv 2412.08602).
/// 0.42 is their middle; 76 % of 10.2 kW, a node of that kind in training (arXiv 2506.14551), gives
/// 0.44.
constexpr Bounded kHost{0.42, 0.33, 0.51};
/// PUE. 1.2 of OLMo 2 (arXiv 2503.05804) and of BLOOM's centre (arXiv 2211.02001); least: 1.08, of
/// large operators' own reports; most: 1.56, the mean of the Uptime Institute's survey of 2024.
constexpr Bounded kPue{1.2, 1.08, 1.56};
/// The world's mean of 2024: IEA, Electricity 2025.
constexpr double kGramsPerKwh = 445;

enum class Doing { computing, polling, idle };

Doing doing(Cause cause) {
  if (cause <= Cause::contention) return Doing::computing;
  const bool is_exposed = cause >= Cause::exposed_first && cause < Cause::pipeline_bubble;
  const bool polls = cause == Cause::pipeline_bubble || cause == Cause::sync_wait;
  return is_exposed || polls ? Doing::polling : Doing::idle;
}

/// The constants in the order in which facility_of takes them.
using Constants = std::array<double, 5>;

double facility_of(const Constants& c, const std::array<double, 3>& shares, double limit) {
  const double board = c[0] * shares[0] + c[1] * shares[1] + c[2] * shares[2];
  return (board + c[3]) * limit * c[4];
}

/// Each unit is a thousand of the one before.
std::string in_units(double value, const std::array<std::string_view, 5>& units) {
  std::size_t i = 0;
  for (; value >= 999.5 && i + 1 < units.size(); ++i) value /= 1e3;
  return fmt::format("{} {}", three_digits(value), units.at(i));
}

Bounded known(double value) { return {value, value, value}; }

}  // namespace

double RunEnergy::kwh(Seconds time) const {
  return facility().value * gpus * time.seconds() / 3.6e6;
}

std::optional<RunEnergy> energy_of(const Scenario& scenario, const CauseSeconds& mean) {
  const double limit = scenario.cluster.gpu.power_limit.value;
  const double step = std::accumulate(mean.begin(), mean.end(), 0.0);
  if (limit <= 0 || step <= 0) return std::nullopt;
  std::array<double, 3> shares{};
  for (std::size_t i = 0; i < mean.size(); ++i)
    shares.at(static_cast<std::size_t>(doing(static_cast<Cause>(i)))) += mean.at(i) / step;
  const Energy& stated = scenario.energy;
  const std::array<Bounded, 5> all{kComputing, kPolling, kIdle,
                                   stated.host ? known(stated.host->value / limit) : kHost,
                                   stated.pue ? known(*stated.pue) : kPue};
  Constants middle{};
  for (std::size_t i = 0; i < all.size(); ++i) middle.at(i) = all.at(i).value;
  const double facility = facility_of(middle, shares, limit);
  // The constants are independent of each other, so that squares of what each changes add up.
  double below = 0, above = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Constants least = middle, most = middle;
    least.at(i) = all.at(i).least;
    most.at(i) = all.at(i).most;
    below += std::pow(facility - facility_of(least, shares, limit), 2);
    above += std::pow(facility_of(most, shares, limit) - facility, 2);
  }
  return RunEnergy{.gpus = scenario.cluster.gpus(),
                   .limit = {limit},
                   .board = {facility / middle[4] - middle[3] * limit},
                   .host = {middle[3] * limit},
                   .pue = middle[4],
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
