// The programs that a launch script starts: which run, which are noted, and which lead to others.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/import/script/script_run.hpp"
#include "sim/process/watched/watched_run.hpp"

namespace stepsim {

/// All names that a script finds on its PATH.
Words program_names();

/// What runs in place of a program. `through` has the programs that lead here; those that this one
/// leads through are added. `note` is called for a program that is noted instead of run.
ProgramStart stand_in(const ProgramStart& asked, const ScriptMachine& machine,
                      std::vector<Words>& through, const std::function<void(StartedProgram)>& note);

/// The last part of a path: "srun" of /usr/bin/srun.
std::string program_name(const std::string& path);

/// Whether the program starts processes by itself, one a GPU: torchrun, accelerate, deepspeed.
bool starts_ranks(const Words& words);

/// "verl (hydra): ...": what it is and how its settings come in; "" where nobody knows it.
std::string other_trainer(const Words& words);

}  // namespace stepsim
