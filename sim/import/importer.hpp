// A kind of foreign input that stepsim reads: one file each, on a list.
//
// An importer is a value in its own .cpp:
//   const Registered<Importer> registered{{.name = "nanotron", .description = "...", ...}};
// `stepsim import NAME FILE` calls it, and `stepsim import FILE` the one that recognises the file.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/registry.hpp"
#include "sim/import/draft.hpp"
#include "sim/import/import_options.hpp"

namespace stepsim {

struct Importer {
  std::string_view name;
  std::string_view description;  ///< one line of `stepsim import --help`
  /// Options of the command that it obeys, beside -o; any other is refused.
  std::vector<std::string_view> options;
  /// Whether the file's text is of this kind, and of no other. The path may be "-" (standard input).
  bool (*recognises)(const std::string& path, const std::string& text);
  /// Whether the file, or folder, is of this kind, where its text is not read: it may be large or
  /// compressed. nullptr: its text shows.
  bool (*recognises_path)(const std::string& path) = nullptr;
  /// Makes a scenario, or a cluster that has been checked: one of them is there.
  Draft (*scenario)(const ImportOptions& options) = nullptr;
  Draft (*cluster)(const ImportOptions& options) = nullptr;
  bool takes_words = false;  ///< a command line stands in place of a file
};

/// The largest file that is imported: tables and graphs of large machines have some MiB.
inline constexpr std::size_t kLargestImport = 16 << 20;

/// The importer of `options.from`, or the one that recognises `options.file`. Throws UserError with
/// the kinds there are where none or several do.
const Importer& importer_for(const ImportOptions& options);

/// The scenario that the importer makes, with a kernel of attention that has what the model asks
/// for. Throws as `Importer::scenario` does.
Draft imported_draft(const Importer& importer, const ImportOptions& options);

/// The text of a configuration, or of the file that holds it. Throws IoError where it cannot be read.
std::shared_ptr<const Source> source_of(const ImportOptions& options);

/// Throws UserError where the text is larger than a file that is imported.
void refuse_large_import(const std::string& file, const std::string& text);

}  // namespace stepsim
