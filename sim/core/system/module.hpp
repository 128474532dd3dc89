// Modules: parts of the program that come with large libraries, loaded by the first run that needs
// them.
#pragma once

#include <string>

namespace stepsim {

/// Whether the module is there: lib/stepsim of an installed program, or where it was built.
bool has_module(const std::string& name);

/// Whether it has been loaded.
bool is_module_loaded(const std::string& name);

/// Loads a module for good and returns the address of one of its functions. Throws IoError, with
/// the loader's reason, where there is none. `shares_names`: libraries that the module's own ones
/// load find its names, as plugins want it.
void* load_from_module(const std::string& name, const char* function, bool shares_names = false);

}  // namespace stepsim
