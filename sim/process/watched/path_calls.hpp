// What becomes of a watched process's system calls that have a path.
#pragma once

#include <string>
#include <vector>

#include "sim/process/watched/scratch_files.hpp"
#include "sim/process/watched/stopped_call.hpp"

namespace stepsim {

class PathCalls {
 public:
  explicit PathCalls(ScratchFiles& files) : files_(files) {}

  /// Lets the call go to the file that is meant, or answers it. REQUIRES: it is no start of a
  /// program.
  void handle(StoppedCall& call);

  const std::vector<std::string>& read() const { return read_; }
  const std::vector<std::string>& missing() const { return missing_; }
  const std::vector<std::string>& absent() const { return absent_; }

 private:
  struct Path;

  void open(StoppedCall& call, const Path& path, std::uint64_t flags);
  void open_to_read(StoppedCall& call, const Path& path, bool is_for_shell);
  void look(StoppedCall& call, const Path& path);
  void enter(StoppedCall& call, const Path& path);
  void make_folder(StoppedCall& call, const Path& path);

  ScratchFiles& files_;
  std::vector<std::string> read_, missing_, absent_;
};

}  // namespace stepsim
