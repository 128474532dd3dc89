// Another program, run and waited for.
#pragma once

#include <string>
#include <vector>

namespace stepsim {

/// Runs the program at words[0] (a path, or a name on PATH) with nothing to read; what it prints
/// goes to standard error. `variables` ("NAME=value") join the environment. Its exit code; 128 and
/// the signal where it was killed. After `limit_s` seconds it is ended.
/// Throws SimulationError where it cannot be started or took too long.
int run_child(const std::vector<std::string>& words, const std::vector<std::string>& variables,
              double limit_s);

struct ChildOutput {
  int code = 0;  ///< as of run_child
  std::string text;
};
/// The same, with what the program prints to standard output.
ChildOutput output_of_child(const std::vector<std::string>& words, double limit_s);

/// The file of that name in a folder of PATH that may be run; "" where there is none.
std::string find_on_path(const std::string& name);

}  // namespace stepsim
