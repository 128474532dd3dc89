// Files of a watched program: it reads those of the machine, and writes copies in a scratch folder.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace stepsim {

/// Says for each path which file is meant. Paths are absolute.
class ScratchFiles {
 public:
  /// `others`: folders in which a relative path is looked for, too, where it is not there.
  /// `programs`: paths that are there for the program alone, one empty file that can be started.
  ScratchFiles(std::filesystem::path scratch, std::vector<std::filesystem::path> others,
               std::set<std::filesystem::path> programs);

  /// The path as the program knows it: one of a copy is that of the original.
  std::filesystem::path known(const std::filesystem::path& path) const;
  /// The copy, the file itself, or the one that a relative path `stated` is in another folder; ""
  /// where there is none.
  std::filesystem::path found(const std::filesystem::path& path,
                              const std::filesystem::path& stated) const;
  /// A copy to write to, with what the file holds if `keep`; "" where the copies are too many, or a
  /// folder stands there.
  std::filesystem::path copy(const std::filesystem::path& path, bool keep);
  /// A folder of the scratch folder for it; "" where the copies are too many.
  std::filesystem::path folder(const std::filesystem::path& path);
  /// A file of that text, /stepsim/NAME for the program; beside the copies.
  std::filesystem::path own(const std::string& name, const std::string& text = "") const;
  /// Removes the copy, if there is one.
  void remove(const std::filesystem::path& path) const;

 private:
  std::filesystem::path copy_of(const std::filesystem::path& path) const;

  std::filesystem::path root_;
  std::vector<std::filesystem::path> others_;
  std::set<std::filesystem::path> programs_;
  std::filesystem::path program_;  ///< the file that stands for all of them
  int copies_ = 0;
};

}  // namespace stepsim
