// Reads a Hugging Face config.json as a model: its keys become the keys of a model file.
//
// JSON is YAML, so the text is parsed like every other file and each value keeps its position. Keys
// that are absent have the default of the configuration class of their model_type
// (huggingface/transformers src/transformers/models/*/configuration_*.py). What changes the cost of
// a step and cannot be said here is an error or one of the model's `notes`; keys that cost nothing
// are listed in huggingface_translation.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/read/tree.hpp"

namespace stepsim {

/// Whether a file of that name is read as a Hugging Face config.
bool is_huggingface(const std::string& file);

/// The text with which it is parsed: JSON may indent with tabs, which YAML refuses.
std::shared_ptr<const Source> as_yaml(const Source& json);

/// The map of a model file, or nothing when a mistake was reported (spoiling `path`).
std::optional<Tree> model_of_huggingface(const Tree& config, const std::string& path,
                                         Problems& problems);

/// What to call the model: the folder where the file is called config.json, else the file's name.
std::string huggingface_name(const std::string& file);

/// The values of model_type that can be read, sorted.
std::vector<std::string> huggingface_model_types();

}  // namespace stepsim
