// A recording of PyTorch's profiler, plain or compressed, and what `explain` makes of it.
#include "sim/recording/files/read_recordings.hpp"
#include "tests/fuzz/explained.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  explain_all(read_recordings(file_of("trace.json", text)));
}

}  // namespace stepsim
