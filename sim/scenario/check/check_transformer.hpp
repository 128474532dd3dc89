// Checks of transformers: their dimensions, and how they are trained and split.
#pragma once

#include "sim/scenario/check/key_reports.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// The dimensions alone.
void check_transformer(const Transformer& model, const KeyReports& keys);
/// Sequences, attention kernel, and the split over ranks.
void check_transformer_training(const Scenario& scenario, const Transformer& model,
                                const KeyReports& keys);

}  // namespace stepsim
