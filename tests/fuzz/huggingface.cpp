// A model's config.json of Hugging Face, as a scenario's model and as `stepsim show model` shows it.
#include "sim/command/show.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  load_model(file_of("config.json", text), fuzz_library());
}

}  // namespace stepsim
