// Whether a file is meant as a recording, rather than as a scenario.
#pragma once

#include <string>

namespace stepsim {

/// Whether the file is compressed or binary, or JSON that no scenario is: of a profiler, or longer
/// than scenarios are. Looks at its beginning and its end only. False for what is no regular file.
bool looks_like_recording(const std::string& path);

}  // namespace stepsim
