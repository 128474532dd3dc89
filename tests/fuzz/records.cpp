// Results of `run`, and the records of validated runs and their errors.
#include <memory>

#include "sim/command/answer/read_result.hpp"
#include "sim/core/error.hpp"
#include "sim/scenario/suite/error_record.hpp"
#include "sim/scenario/suite/run_record_file.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  const auto source =
      std::make_shared<Source>(Source{.name = "result.json", .folder = "", .text = text});
  is_meant_as_result(*source);
  try {
    read_result(source);
  } catch (const UserError&) {
  }
  try {
    to_csv(load_recorded_runs(file_of("recorded_runs.csv", text)));
  } catch (const UserError&) {
  }
  to_yaml(load_error_record(file_of("recorded.yaml", text)));
}

}  // namespace stepsim
