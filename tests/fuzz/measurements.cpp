// What was measured on a machine: JSON, tables, logs of nccl-tests.
#include <memory>

#include "sim/calibrate/measurement/read_measurements.hpp"
#include "sim/core/problems.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  Problems problems;
  read_measurements(
      std::make_shared<Source>(Source{.name = "measured", .folder = "", .text = text}), problems);
  problems.throw_if_any();
}

}  // namespace stepsim
