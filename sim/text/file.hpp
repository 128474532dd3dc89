// Saves a file whole or not at all: writes it under a temporary name, then renames it. All files
// that the program makes go this way, but for those of sweeps, which SQLite writes.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text/output.hpp"

namespace stepsim {

/// Calls `write` with a stream into a temporary file beside the output's path, and renames that;
/// gzip-compressed when the path ends in ".gz". Devices and pipes are written directly. On any
/// failure, and when SIGINT, SIGTERM or SIGHUP ends the program meanwhile, the temporary file is
/// removed and what stood at the path is left as it was; SIGKILL leaves it, too, beside a
/// temporary file. Throws what check_outputs() throws, IoError that says what was attempted on
/// which file, and lets pass what `write` throws.
void save_file(const Output& output, const std::function<void(std::ostream&)>& write);

/// Saves a text that exists already. It also replaces a file that has the same text, whoever made it.
void save_file(const Output& output, std::string_view text);

struct OutputText {
  Output output;
  std::string text;
};
/// Saves all files or none: each is written whole under its temporary name before the first is
/// renamed.
void save_files(const std::vector<OutputText>& files);

/// The first `most` bytes of a regular file; empty where there is none or it cannot be read. To look
/// at what an output would replace is not to read it (sim/core/system/files_read.hpp).
std::string beginning_of(const std::string& path, std::size_t most);

}  // namespace stepsim
