// Reads a model by a scenario that has nothing else of interest.
#include "sim/import/config/model_shape.hpp"

#include <variant>

#include "sim/scenario/load.hpp"

namespace stepsim {

std::optional<Transformer> shape_of_model(const std::string& model) {
  if (!model.starts_with('{')) {
    const Model named = load_model(model, library_for("scenario.yaml"));
    const auto* shape = std::get_if<Transformer>(&named.shape);
    return shape == nullptr ? std::nullopt : std::optional(*shape);
  }
  const std::string text =
      "model: " + model + "\ncluster: dgx-h100\ntraining: {sequence_length: 1, global_batch: 8}\n";
  const Scenario scenario = parse_scenario(text, "scenario.yaml", library_for("scenario.yaml"));
  const auto* shape = std::get_if<Transformer>(&scenario.model.shape);
  return shape == nullptr ? std::nullopt : std::optional(*shape);
}

}  // namespace stepsim
