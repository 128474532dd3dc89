// Configs of Hugging Face in tests: the model that one makes, or what is said of it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "sim/core/error.hpp"
#include "sim/scenario/load.hpp"
#include "tests/temporary_folder.hpp"

namespace stepsim {

inline Model model_of(const std::string& json) {
  const TemporaryFolder folder;
  return load_model(folder.file("some-model/config.json", json), Library{});
}

/// What is said of a config that cannot be read; "" when it can.
inline std::string refusal_of(const std::string& json) {
  try {
    model_of(json);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
inline bool has_note(const Model& model, std::string_view part) {
  return std::any_of(model.notes.begin(), model.notes.end(),
                     [&](const std::string& note) { return has(note, part); });
}

}  // namespace stepsim
