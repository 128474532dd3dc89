// A launch script, which bash evaluates where nothing can be changed.
#include <sstream>

#include "sim/import/import_options.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  const ImportOptions options{
      .from = "megatron", .file = file_of("train.sh", text), .cluster = "pod"};
  std::ostringstream out, notes;
  import(options, out, notes);
}

}  // namespace stepsim
