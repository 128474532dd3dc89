// A file of any kind, which `import` recognises, and commands that want a scenario.
#include "sim/import/importer.hpp"
#include "sim/import/kind_of_file.hpp"
#include "sim/recording/files/looks_like_recording.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  const std::string path = file_of("file", text);
  way_out_for_scenario(path, text);
  looks_like_recording(path);
  importer_for({.file = path});
}

}  // namespace stepsim
