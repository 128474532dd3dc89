// Saves a file whole or not at all: writes it under a temporary name, then renames it.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

/// Calls `write` with a stream into `path` + ".tmp" and renames that to `path`; gzip-compressed
/// when the path ends in ".gz". On any failure, and when SIGINT, SIGTERM or SIGHUP ends the program
/// meanwhile, the temporary file is removed and what stood at `path` is left as it was. Throws
/// IoError that says what was attempted on which file, and lets pass what `write` throws.
void save_file(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Saves a text that exists already, whole or not at all, with the errors of a file that a function
/// writes.
void save_file(const std::string& path, std::string_view text);

struct FileText {
  std::string path, text;
};
/// Saves all files or none: each is written whole under its temporary name before the first is
/// renamed.
void save_files(const std::vector<FileText>& files);

/// Throws IoError where the file's folder takes no file, or the path is a folder. Callers ask
/// before they begin work whose result would be lost.
void check_writable(const std::string& path);

/// A file named on the command line: its role, as in "--svg", and its path; empty: there is none.
struct NamedFile {
  std::string role, path;
};
/// Throws UserError where two of `written` are one file, or where one of them is among `read`,
/// because a file would be lost. Devices may be written twice.
void check_apart(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read);

}  // namespace stepsim
