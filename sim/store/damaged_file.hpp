// What SQLite cannot do with a file of sweeps: whether the file is damaged, or the machine refuses.
#pragma once

#include <string>

#include <SQLiteCpp/Exception.h>

#include "sim/core/error.hpp"

namespace stepsim {

/// A file of sweeps whose bytes contradict each other, with the reason, and what to do.
UserError damaged_file(const std::string& path, const std::string& reason);

/// Throws for what SQLite says while it does `attempt` ("read") with the file: UserError where the
/// file is none of SQLite's or is damaged; std::bad_alloc where there is no memory; IoError where
/// the machine refuses: no room, no right, another program.
[[noreturn]] void throw_for(const SQLite::Exception& error, const std::string& path,
                            const std::string& attempt);

}  // namespace stepsim
