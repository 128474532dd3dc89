// The power of a run: what boards draw by what they do, hosts, cooling, and bounds.
#include "sim/report/measure/energy.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace stepsim;

namespace {

/// Four GPUs of 1000 W.
Scenario four_gpus(const Energy& stated = {}) {
  Scenario scenario;
  scenario.cluster.nodes = 2;
  scenario.cluster.gpus_per_node = 2;
  scenario.cluster.gpu.power_limit = {1000};
  scenario.energy = stated;
  return scenario;
}

CauseSeconds spent(std::initializer_list<std::pair<Cause, double>> parts) {
  CauseSeconds causes{};
  for (const auto& [cause, seconds] : parts) causes.at(static_cast<std::size_t>(cause)) = seconds;
  return causes;
}

const Energy kStated{.host = Watts{200}, .pue = 1.5, .carbon = CarbonIntensity{100}};

double board(const CauseSeconds& causes) { return energy_of(four_gpus(), causes)->board.value; }

}  // namespace

TEST_CASE("a board draws 94 % of its limit while it computes, 25 % in collectives, 15 % idle") {
  for (const Cause cause :
       {Cause::forward, Cause::recompute, Cause::backward, Cause::optimizer, Cause::contention})
    CHECK(board(spent({{cause, 2}})) == doctest::Approx(940));
  for (const Cause cause :
       {exposed(Axis::data), exposed(Axis::tensor), Cause::pipeline_bubble, Cause::sync_wait})
    CHECK(board(spent({{cause, 2}})) == doctest::Approx(250));
  for (const Cause cause : {Cause::stall, Cause::batch_wait, Cause::h2d, Cause::cpu_work,
                            Cause::checkpoint, Cause::launch_gap})
    CHECK(board(spent({{cause, 2}})) == doctest::Approx(150));
  CHECK(board(spent({{Cause::forward, 6}, {exposed(Axis::data), 3}, {Cause::batch_wait, 1}})) ==
        doctest::Approx(0.6 * 940 + 0.3 * 250 + 0.1 * 150));
}

TEST_CASE("hosts and cooling come on top, as stated or as assumed") {
  const CauseSeconds computing = spent({{Cause::forward, 1}});
  const auto stated = energy_of(four_gpus(kStated), computing);
  REQUIRE(stated);
  CHECK(stated->facility().value == doctest::Approx((940 + 200) * 1.5));
  // Four GPUs for an hour.
  CHECK(stated->kwh(Seconds{3600}) == doctest::Approx(4 * 1.71));
  CHECK(stated->kg_of_co2e(4 * 1.71) == doctest::Approx(4 * 1.71 * 0.1));
  // For a quarter of the time no kernel runs.
  CHECK(stated->kwh(Seconds{3600}, 0.25) ==
        doctest::Approx(4 * (0.75 * 1.71 + 0.25 * (0.150 + 0.200) * 1.5)));
  CHECK(assumed_energy_text(*stated).empty());

  const auto assumed = energy_of(four_gpus(), computing);
  CHECK(assumed->facility().value == doctest::Approx((940 + 420) * 1.2));
  CHECK(assumed_energy_text(*assumed) ==
        "host 420 W a GPU, PUE 1.2, 445 g of CO2e a kWh assumed (energy)");
}

TEST_CASE("bounds are those of what is assumed, joined as independent") {
  const CauseSeconds computing = spent({{Cause::forward, 1}});
  const auto stated = energy_of(four_gpus(kStated), computing);
  // The board alone: 0.85 to 1 of the limit.
  CHECK(stated->least.value == doctest::Approx((850 + 200) * 1.5));
  CHECK(stated->most.value == doctest::Approx((1000 + 200) * 1.5));
  const auto assumed = energy_of(four_gpus(), computing);
  const double below =
      std::sqrt(std::pow(90 * 1.2, 2) + std::pow(90 * 1.2, 2) + std::pow(1360 * 0.12, 2));
  CHECK(assumed->least.value == doctest::Approx(1360 * 1.2 - below));
}

TEST_CASE("without a power limit, or without a step, there is no energy") {
  Scenario scenario = four_gpus();
  CHECK_FALSE(energy_of(scenario, {}));
  scenario.cluster.gpu.power_limit = {};
  CHECK_FALSE(energy_of(scenario, spent({{Cause::forward, 1}})));
}

TEST_CASE("energy and carbon have the unit that fits") {
  CHECK(energy_text(0.0123) == "12.3 Wh");
  CHECK(energy_text(1.324) == "1.32 kWh");
  CHECK(energy_text(999.6) == "1.00 MWh");
  CHECK(energy_text(512e3) == "512 MWh");
  CHECK(carbon_text(0.5) == "500 g");
  CHECK(carbon_text(228e3) == "228 t");
}
