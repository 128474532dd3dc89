// The text that a value came from, and the place in it, for messages that point.
#pragma once

#include <memory>
#include <string>

namespace stepsim {

/// A text with the name that messages cite and the folder that relative paths in it start from.
struct Source {
  std::string name;    ///< path as the user gave it, or "--set path=value"
  std::string folder;  ///< folder of the file; "" is the current one
  std::string text;
  bool is_override = false;  ///< true: places in it have no line; one with a column gets a caret

  /// Line `number` (from 1) without its end; empty when there is no such line.
  std::string line(int number) const;
};

/// A position in a source; lines and columns count from 1, 0 means "no position".
struct Place {
  std::shared_ptr<const Source> source;
  int line = 0;
  int column = 0;
};

/// The largest scenario or profile that is read: far above any real one (a few KiB), and small
/// enough to refuse a wrong file at once.
inline constexpr std::size_t kLargestFile = 1 << 20;
/// The largest file of measurements that is read; a point takes some 200 bytes.
inline constexpr std::size_t kLargestMeasurements = 64 << 20;

/// Reads a file, or standard input for "-", and one byte more than `most` of a longer one, which
/// shows that it is longer. A pipe is waited for while somebody writes to it; its text is kept, for
/// whoever asks again. Throws IoError when the file cannot be read, is a folder or a device, or a
/// pipe that nobody writes to.
std::shared_ptr<const Source> read_source(const std::string& path, std::size_t most = kLargestFile);

/// The folder part of a path; "" when it has none.
std::string folder_of(const std::string& path);

/// `folder/name`, or `name` when the folder is "" or the name is absolute.
std::string joined(const std::string& folder, const std::string& name);

/// "'text'" with control characters escaped and long texts cut, for use inside a sentence.
std::string quoted(const std::string& text);

/// "'path'" with control characters escaped; only what no system takes as a path is cut.
std::string quoted_path(const std::string& path);

/// The line and column of the byte at `offset`.
Place place_at(const std::shared_ptr<const Source>& source, std::size_t offset);

/// The offset of the first byte that is not text (a control character, or not UTF-8); npos where
/// all is text.
std::size_t first_non_text(const std::string& text);

}  // namespace stepsim
