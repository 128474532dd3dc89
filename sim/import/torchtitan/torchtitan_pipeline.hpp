// The pipeline that a torchtitan configuration describes.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/import/config/config.hpp"

namespace stepsim {

/// Layers of each of `stages` virtual stages: the embedding counts as `first` layers and the head as
/// `last`, and what is left over goes to the first stages (pytorch/torchtitan
/// torchtitan/distributed/pipeline_parallel.py, generate_llm_fqn_per_model_part). Empty where a
/// stage would have no layer.
std::vector<std::int64_t> torchtitan_layers(std::int64_t layers, std::int64_t stages,
                                            std::int64_t first, std::int64_t last);

/// Writes `parallelism.pipeline` of two stages and more of a model of so many layers.
void write_torchtitan_pipeline(Config& config, std::int64_t layers, std::int64_t stages,
                               Draft& draft);

/// Counts its keys as read where there is one stage.
void pass_over_torchtitan_pipeline(Config& config);

}  // namespace stepsim
