// The files of /sys and /proc, and what nvidia-smi says: of this machine, or of a saved copy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/core/source.hpp"

namespace stepsim {

using SourcePtr = std::shared_ptr<const Source>;

class MachineFiles {
 public:
  /// `root`: a folder with `sys/` and `proc/` in it; "": this machine. Throws UserError where the
  /// folder has neither.
  explicit MachineFiles(std::string root);

  /// A file of /sys or /proc; nullptr where there is none, or it cannot be read, as the speed of a
  /// network link that is down.
  SourcePtr file(const std::string& path) const;
  /// The first line of a file without blanks around it; "" where there is none, or it cannot be
  /// read.
  std::string line(const std::string& path) const;
  /// What is in a folder, in the order in which people count: mlx5_2, mlx5_10.
  std::vector<std::string> names(const std::string& folder) const;

  /// What `nvidia-smi OPTIONS` prints, in a saved copy the file `nvidia-smi-NAME.txt`; nullptr
  /// where there is none, or it failed; then `why` says so.
  SourcePtr nvidia_smi(const std::string& name, const std::vector<std::string>& options,
                       std::string& why) const;

  /// "this machine", or the folder.
  std::string text() const { return root_.empty() ? "this machine" : root_; }

 private:
  std::string root_;
};

}  // namespace stepsim
