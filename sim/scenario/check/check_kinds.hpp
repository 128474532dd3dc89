// Checks of the kinds of model that are no transformers.
#pragma once

#include <string>

#include "sim/scenario/check/key_reports.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// What a model without tokens cannot have: tensor and context parallelism, sequences, selective
/// recompute, tokens/s. `title` begins the sentences: "an MLP".
void check_without_tokens(const Scenario& scenario, const std::string& title,
                          const KeyReports& keys);

/// The dimensions alone.
void check_resnet(const ResNet& model, const KeyReports& keys);
/// How it is trained and split.
void check_resnet_training(const Scenario& scenario, const ResNet& model, const KeyReports& keys);

void check_dlrm(const Dlrm& model, const KeyReports& keys);
void check_dlrm_training(const Scenario& scenario, const KeyReports& keys);

}  // namespace stepsim
