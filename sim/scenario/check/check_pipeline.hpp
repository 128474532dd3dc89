// What a pipeline schedule asks of stages, chunks, layers and micro-batches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/check/key_reports.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// What a pipeline deals out.
std::int64_t layers_of(const Model& model);
/// What the scenario's schedule asks for; nullptr when it is not known.
const ScheduleNeeds* needs_of(const Scenario& scenario, const KnownNames& known);
/// The schedules that run at least so many chunks per stage.
std::vector<std::string> schedules_with(const KnownNames& known, int chunks);
/// Different parts of the model per stage.
int parts_per_stage(const Scenario& scenario, const KnownNames& known);

void check_pipeline(const Scenario& scenario, const KnownNames& known, const KeyReports& keys);

}  // namespace stepsim
