// Where the constants of a shipped profile come from, as its file states it.
#pragma once

#include <string>

#include "sim/scenario/load.hpp"
#include "sim/scenario/read/map_writer.hpp"

namespace stepsim {

/// The sources of a profile of calib/gpus/ or calib/links/, with those of its `base` and of what it
/// is `like`. Constants that the file leaves out have a source that says so. Throws UserError where
/// the library has no such profile.
ProfileSources stated_gpu_sources(const std::string& name, const Library& library);
ProfileSources stated_link_sources(const std::string& name, const Library& library);

}  // namespace stepsim
