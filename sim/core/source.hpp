// The text that a value came from, and the place in it, for messages that point.
#pragma once

#include <memory>
#include <string>

namespace stepsim {

/// A text with the name that messages cite and the folder that relative paths in it start from.
struct Source {
  std::string name;    ///< path as the user gave it, or "--set path=value"
  std::string folder;  ///< "" is the current folder
  std::string text;
  bool is_override = false;  ///< its places have no line; with a column they get a caret

  /// Line `number` (from 1) without its end; empty when there is no such line.
  std::string line(int number) const;
};

/// A position in a source; lines and columns count from 1, 0 means "no position".
struct Place {
  std::shared_ptr<const Source> source;
  int line = 0;
  int column = 0;
};

/// Far above any scenario or profile (a few KiB), and small enough that a wrong file is refused at
/// once.
inline constexpr std::size_t kLargestFile = 1 << 20;
/// Measurements: some 200 bytes a point.
inline constexpr std::size_t kLargestMeasurements = 64 << 20;

/// Reads a file; of a longer one `most` bytes and one more. Throws IoError when it cannot be read
/// or is a folder.
std::shared_ptr<const Source> read_source(const std::string& path, std::size_t most = kLargestFile);

/// The folder part of a path; "" when it has none.
std::string folder_of(const std::string& path);

/// `folder/name`, or `name` when the folder is "" or the name is absolute.
std::string joined(const std::string& folder, const std::string& name);

/// "'text'" with control characters escaped and long texts cut, for use inside a sentence.
std::string quoted(const std::string& text);

/// The line and column of the byte at that offset.
Place place_at(const std::shared_ptr<const Source>& source, std::size_t offset);

/// Offset of the first byte that is not text (a control character, or not UTF-8); npos when all is
/// well.
std::size_t first_non_text(const std::string& text);

}  // namespace stepsim
