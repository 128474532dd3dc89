// The words of the command line, before CLI11 reads them.
#pragma once

#include <vector>

#include <CLI/CLI.hpp>

namespace stepsim {

/// With `help` and `help COMMAND` as options. Throws UserError where there is no such command:
/// CLI11 would only say that one is required.
std::vector<const char*> words_of(int argc, char** argv, const CLI::App& app);

}  // namespace stepsim
