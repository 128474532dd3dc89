// What can go wrong, as values: each kind of failure has one type and one exit code.
//
// Errors are thrown anywhere and caught once, in main. A UserError carries every diagnostic of a
// file in one go, each with its position, so that one run shows all there is to mend.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace stepsim {

/// Exit codes of the program; documented in docs/commands.md.
enum class ExitCode : int {
  ok = 0,
  expectation_failed = 1,  ///< an `expect` of the scenario, or a tolerance, does not hold
  bad_input = 2,           ///< the scenario or the command line is wrong
  incomplete = 3,          ///< the simulation could not complete (a deadlock, say)
  io = 4,                  ///< a file could not be read or written
  out_of_memory = 5,       ///< it asked for more memory than there is
  internal = 70,           ///< a defect of stepsim itself
};

/// One mistake in one place of the input. Lines and columns count from 1; 0 means "no position".
struct Diagnostic {
  std::string file;  ///< as the user named it; or "--set path=value" for an override
  int line = 0;
  int column = 0;
  std::string message;      ///< what is wrong, in a sentence, with the offending text
  std::string source_line;  ///< the text of the line, for the caret; may be empty
  std::string proposal;     ///< what to do instead ("did you mean 'bandwidth'?"); may be empty
};

/// `file:line:col: message, proposal`, then the line and a caret under the column.
std::string to_string(const Diagnostic& diagnostic);

/// The input is wrong. Exit code 2.
class UserError : public std::runtime_error {
 public:
  explicit UserError(std::vector<Diagnostic> diagnostics);
  /// A mistake that has no position in a file (a command line argument, say).
  explicit UserError(const std::string& message);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// The simulation cannot complete; the message names who waits for whom. Exit code 3.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file cannot be read or written. Exit code 4.
class IoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A defect of the program: something that no input should be able to cause. Exit code 70.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace stepsim
