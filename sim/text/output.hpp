// Files that a command writes, and which files they may replace: never one that was read, never one
// that is read-only, and without --force only one that the same kind of output made.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace stepsim {

/// What an output writes, told from other files.
struct Maker {
  std::string as;  ///< what such a file is: "stepsim import wrote it", "a trace of stepsim"
  /// Whether the file at the path is such a one.
  std::function<bool(const std::string& path)> made;
};

/// A file that a command writes.
struct Output {
  std::string role;        ///< how messages name it: "--html"
  std::string path;        ///< empty: it was not asked for
  Maker maker{};           ///< whose files it replaces
  bool force = false;      ///< replaces what others made, too
  bool is_update = false;  ///< the command reads the file itself, and changes it
};

/// Refuses what would lose something, before work whose result could not be kept. Throws UserError
/// where two outputs are one file, where one of them is a file that was read (by device and inode,
/// so that links are seen), and where one would replace a file that somebody else made, or has
/// changed since; IoError where a file or its folder takes nothing. Devices and pipes take all.
void check_outputs(const std::vector<Output>& outputs);
/// Refuses what check_outputs() does, of the outputs whose file is there already: folders of others
/// are still to be made.
void check_replaced(const std::vector<Output>& outputs);

}  // namespace stepsim
