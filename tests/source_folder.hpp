// Where the repository is.
#pragma once

namespace stepsim {

/// The folder of CMakeLists.txt, absolute. A function, so that no other object depends on it.
const char* source_folder();

}  // namespace stepsim
