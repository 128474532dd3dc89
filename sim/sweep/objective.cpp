// The list of objectives.
#include "sim/sweep/objective.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {
namespace {

using Numbers = PointNumbers;

constexpr std::array kObjectives{
    Objective{Aim::step_time, "step_time", "step_time_s", "step time", true,
              [](const Numbers& n) { return n.step.seconds(); }},
    Objective{Aim::mfu, "mfu", "mfu", "MFU", false, [](const Numbers& n) { return n.mfu; }},
    Objective{Aim::tokens_per_s, "tokens_per_s", "tokens_per_s", "tokens/s", false,
              [](const Numbers& n) { return n.tokens_per_s; }},
    Objective{Aim::samples_per_s, "samples_per_s", "samples_per_s", "samples/s", false,
              [](const Numbers& n) { return n.samples_per_s; }},
    Objective{Aim::tokens_per_s_per_gpu, "tokens_per_s_per_gpu", "tokens_per_s_per_gpu",
              "tokens/s per GPU", false,
              [](const Numbers& n) { return n.gpus > 0 ? n.tokens_per_s / n.gpus : 0; }},
    Objective{Aim::memory, "memory", "peak_memory_bytes", "memory of a GPU", true,
              [](const Numbers& n) { return n.peak.bytes(); }},
    Objective{Aim::cost, "cost", "cost_dollars", "cost", true,
              [](const Numbers& n) { return n.dollars; }}};

}  // namespace

std::span<const Objective> objectives() { return kObjectives; }

const Objective& objective_of(const std::string& name) {
  std::vector<std::string> names;
  for (const Objective& objective : kObjectives) {
    if (name == objective.name) return objective;
    names.emplace_back(objective.name);
  }
  throw UserError(fmt::format("unknown objective '{}', {}", name, did_you_mean(name, names)));
}

}  // namespace stepsim
