// The profile of a GPU or of a link.
#include "sim/core/error.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  try {
    parse_gpu(text, "gpu.yaml");
  } catch (const UserError&) {
    parse_link(text, "link.yaml");
  }
}

}  // namespace stepsim
