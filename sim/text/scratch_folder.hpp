// A folder for temporary files, which goes when nobody needs it any more.
#pragma once

#include <filesystem>

namespace stepsim {

/// A fresh folder; it goes with the object, and with it all that is in it. A signal that ends the
/// program leaves it (InterruptNoted in sim/process/ is for that).
class ScratchFolder {
 public:
  /// One in the system's folder for temporary files. Throws IoError where none can be made, with the
  /// variable that says where.
  ScratchFolder();
  /// One within another folder.
  explicit ScratchFolder(const std::filesystem::path& within);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace stepsim
