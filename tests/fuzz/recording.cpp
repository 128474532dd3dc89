// A recording of PyTorch's profiler, plain or compressed, and what `explain` and `import` make of it.
#include <sstream>

#include "sim/import/import_options.hpp"
#include "sim/recording/files/read_recordings.hpp"
#include "tests/fuzz/explained.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  const std::string path = file_of("trace.json", text);
  explain_all(read_recordings(path));
  std::ostringstream out, notes;
  import({.from = "trace", .file = path, .model = "rotary", .cluster = "pod"}, out, notes);
}

}  // namespace stepsim
