// Where the program was installed.
#pragma once

#include <filesystem>
#include <optional>

namespace stepsim {

/// The folder above that of the program, as /usr is above /usr/bin.
std::filesystem::path folder_above_program();

/// The prefix of an installed program, which has share/stepsim; nothing for one that runs where it
/// was built. An installed program takes nothing from the tree that it was built in.
std::optional<std::filesystem::path> installed_prefix();

}  // namespace stepsim
