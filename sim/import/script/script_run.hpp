// What a launch script starts, by letting bash evaluate it where nothing can be changed.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/quantity.hpp"
#include "sim/core/source.hpp"

namespace stepsim {

using Words = std::vector<std::string>;
/// Variables by name; "1", "2", ... are the script's arguments.
using Variables = std::map<std::string, std::string>;

/// A start of a program that trains, or that nobody knows.
struct StartedProgram {
  Words words;                 ///< the program, as it was named, and its arguments
  std::vector<Words> through;  ///< programs that started it, each with its own arguments: srun, ssh
  bool is_known = true;        ///< false: an unknown program, which may do anything
};

struct ScriptRun {
  std::vector<StartedProgram> launches;  ///< in order
  std::vector<std::string> read;     ///< files that shells read: the script, those that it sources
  std::vector<std::string> missing;  ///< files that shells wanted to read, as they were named
  std::vector<std::string> absent;   ///< files that other programs wanted to read
  std::vector<std::string> scripts;  ///< files that shells were started with, here or not
  std::string errors;                ///< what was printed to standard error
  int code = 0;                      ///< exit code
};

/// What the machine of the script would say of itself.
struct ScriptMachine {
  int nodes = 1;
  int gpus_per_node = 8;
};

/// The script was ended before it came to its end.
class ScriptNotEnded : public UserError {
 public:
  using UserError::UserError;
};

/// How a script is evaluated: in this process, or in a copy of it.
enum class RunIn { copy, here };

/// Evaluates the script in its folder, or here where it came through a pipe. Programs but for
/// harmless ones (echo, sed, ...) are not started: their arguments are noted, and they seem to
/// succeed. Throws ScriptNotEnded where it does not end in time or starts too many processes,
/// SimulationError where the system lets nobody watch, Interrupted. What it writes lies in
/// `scratch`, where something of it may be left.
/// REQUIRES: for `here`, this process has no other children.
ScriptRun run_script(const Source& script, const Variables& variables, const ScriptMachine& machine,
                     const std::filesystem::path& scratch, Seconds limit,
                     RunIn where = RunIn::copy);

}  // namespace stepsim
