// As CMake says.
#include "tests/source_folder.hpp"

namespace stepsim {

const char* source_folder() { return STEPSIM_SOURCE_DIR; }

}  // namespace stepsim
