// Searches over the constants of the tiled and of the smooth form, each scaled to 0..1.
#include "sim/calibrate/fit/gemm_form.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "sim/calibrate/fit/minimise.hpp"

namespace stepsim::fit {
namespace {

/// A constant, and where it is looked for. Judgement: bounds are wide around what fits of seven
/// GPUs came to.
struct Knob {
  double low, high;
  bool is_log;
  void (*set)(GemmProfile& profile, double value);

  double scaled(double value) const {
    value = std::clamp(value, low, high);
    return is_log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
  double value(double share) const {
    return is_log ? low * std::pow(high / low, share) : low + share * (high - low);
  }
};
using Knobs = std::vector<Knob>;

const Knobs kShared = {
    {0.4, 1, false, [](GemmProfile& p, double v) { p.efficiency = v; }},
    {0.3, 1, false, [](GemmProfile& p, double v) { p.memory_efficiency = v; }},
    {0.2, 100, true, [](GemmProfile& p, double v) { p.overhead = Seconds{v * 1e-6}; }},
    {1, 12, true, [](GemmProfile& p, double v) { p.roundness = v; }},
};

TiledGemm& tiled(GemmProfile& p) { return std::get<TiledGemm>(p.form); }
SmoothGemm& smooth(GemmProfile& p) { return std::get<SmoothGemm>(p.form); }

const Knobs kTiled = {
    {0, 0.5, false, [](GemmProfile& p, double v) { tiled(p).droop = v; }},
    {0.001, 20, true, [](GemmProfile& p, double v) { tiled(p).droop_half = Flops{v * 1e12}; }},
    {0, 600, false, [](GemmProfile& p, double v) { tiled(p).prologue_k = v; }},
    {0, 300, false, [](GemmProfile& p, double v) { tiled(p).tile_edge = v; }},
    {0.05, 2, true, [](GemmProfile& p, double v) { tiled(p).lone_tile = v; }},
    {0, 1, false, [](GemmProfile& p, double v) { tiled(p).partial_waves = v; }},
    {0, 10, false, [](GemmProfile& p, double v) { tiled(p).split_overhead = Seconds{v * 1e-6}; }},
    {0.3, 20, true, [](GemmProfile& p, double v) { tiled(p).split_bandwidth = v; }},
};

const Knobs kSmooth = {
    {0.01, 1024, true, [](GemmProfile& p, double v) { smooth(p).half_m = v; }},
    {0.01, 1024, true, [](GemmProfile& p, double v) { smooth(p).half_n = v; }},
    {0.01, 1024, true, [](GemmProfile& p, double v) { smooth(p).half_k = v; }},
};

Knobs knobs_of(const GemmProfile& profile) {
  Knobs knobs = kShared;
  const Knobs& own = std::holds_alternative<TiledGemm>(profile.form) ? kTiled : kSmooth;
  knobs.insert(knobs.end(), own.begin(), own.end());
  return knobs;
}

// Evaluations from one start; further ones gained less than 0.02 points.
constexpr int kEvaluations = 1200;
constexpr std::size_t kSamples = 1000;  // samples that are looked at

/// Evenly spread over the list, so that all sizes remain.
Samples thinned(const Samples& samples) {
  if (samples.size() <= kSamples) return samples;
  Samples kept;
  for (std::size_t i = 0; i < kSamples; ++i) kept.push_back(samples[i * samples.size() / kSamples]);
  return kept;
}

/// The profile as it will be written, to four digits.
GemmProfile at(GemmProfile profile, const Knobs& knobs, const std::vector<double>& place) {
  for (std::size_t i = 0; i < knobs.size(); ++i)
    knobs[i].set(profile, rounded(knobs[i].value(place[i])));
  return profile;
}

double loss(const Model& model, const Samples& samples) {
  double sum = 0;
  for (const TimedWork& sample : samples)
    sum += std::abs(std::log(model(sample.work) / sample.seconds));
  return sum / static_cast<double>(samples.size());
}

/// Where searches begin, so that no fit depends on one before it: what came out for A100, H100 and
/// B200, in the order of the knobs.
const std::vector<std::vector<double>> kTiledStarts = {
    {0.9, 0.74, 2.1, 5.2, 0.1, 0.5, 169, 123, 0.27, 0.14, 1.9, 1.05},
    {0.85, 0.83, 2.5, 3.7, 0.14, 3.3, 139, 2.2, 0.35, 0.6, 2.6, 1.2},
    {0.78, 0.8, 2.3, 2.1, 0.12, 0.17, 19, 2.9, 0.35, 0.5, 3.5, 1.1}};
/// Judgement: a GPU without tensor cores, a core of a CPU, and one with slow starts.
const std::vector<std::vector<double>> kSmoothStarts = {
    {0.9, 0.8, 5, 4, 32, 32, 8}, {0.9, 0.8, 0.5, 2, 4, 8, 8}, {0.7, 0.6, 2, 2, 1, 64, 64}};

std::vector<Parameter> parameters_at(const Knobs& knobs, const std::vector<double>& values) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < knobs.size(); ++i)
    parameters.push_back({knobs[i].scaled(values[i]), 0, 1});
  return parameters;
}

}  // namespace

GemmProfile fit_form(const Samples& samples, const GemmProfile& start, const GemmDevice& device,
                     const GemmOptions& options) {
  GemmProfile bare = start;
  if (auto* form = std::get_if<TiledGemm>(&bare.form)) form->correction.reset();
  const Knobs knobs = knobs_of(bare);
  const Samples few = thinned(samples);
  const auto objective = [&](const std::vector<double>& place) {
    return loss(gemm_model(at(bare, knobs, place), device, options), few);
  };
  GemmProfile best = bare;
  double least = INFINITY;
  const bool is_tiled = std::holds_alternative<TiledGemm>(bare.form);
  for (const auto& values : is_tiled ? kTiledStarts : kSmoothStarts) {
    const auto place = minimise(objective, parameters_at(knobs, values), kEvaluations);
    const double here = objective(place);
    if (here < least) {
      least = here;
      best = at(bare, knobs, place);
    }
  }
  return best;
}

}  // namespace stepsim::fit
