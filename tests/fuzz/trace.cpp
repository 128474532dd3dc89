// A trace that stepsim wrote, and what `explain` makes of it.
#include <sstream>

#include "sim/command/explain.hpp"
#include "sim/recording/simulated/read_simulated.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  const std::string path = file_of("trace.json", text);
  if (!is_simulated(path)) return;
  std::ostringstream out, notes;
  explain_recording({.scenario = {.path = path}, .format = "json"}, out, notes);
}

}  // namespace stepsim
