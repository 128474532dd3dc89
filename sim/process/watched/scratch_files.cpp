// Where copies of a program's files lie, and how many there may be.
#include "sim/process/watched/scratch_files.hpp"

#include <fstream>

namespace stepsim {
namespace fs = std::filesystem;
namespace {

/// A launch script writes a handful: a list of hosts, a configuration, logs.
constexpr int kMostCopies = 100;
constexpr std::uintmax_t kLargestKept = 1 << 20;

bool is_below(const fs::path& path, const fs::path& folder) {
  return path.native().starts_with(folder.native() + "/");
}

bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(fs::symlink_status(path, none));
}

}  // namespace

ScratchFiles::ScratchFiles(fs::path scratch, std::vector<fs::path> others,
                           std::set<fs::path> programs)
    : root_(std::move(scratch)),
      others_(std::move(others)),
      programs_(std::move(programs)),
      program_(own("program")) {
  fs::permissions(program_, fs::perms::owner_all);
}

fs::path ScratchFiles::known(const fs::path& path) const {
  const fs::path plain = path.lexically_normal();
  return is_below(plain, root_) ? fs::path("/") / plain.lexically_relative(root_) : plain;
}

fs::path ScratchFiles::copy_of(const fs::path& path) const {
  return root_ / path.lexically_relative("/");
}

fs::path ScratchFiles::found(const fs::path& path, const fs::path& stated) const {
  if (programs_.contains(path)) return program_;
  fs::path copy = copy_of(path);
  std::error_code none;
  // A folder of the machine holds more than its copy.
  if (is_there(copy) && !(fs::is_directory(copy, none) && is_there(path))) return copy;
  if (is_there(path)) return path;
  if (stated.is_absolute()) return {};
  for (const fs::path& other : others_) {
    if (is_there(other / stated)) return (other / stated).lexically_normal();
  }
  return {};
}

fs::path ScratchFiles::copy(const fs::path& path, bool keep) {
  fs::path copy = copy_of(path);
  std::error_code failed;
  if (fs::is_directory(path, failed) || (!is_there(copy) && ++copies_ > kMostCopies)) return {};
  if (folder(path.parent_path()).empty()) return {};
  if (keep && !is_there(copy) && fs::is_regular_file(path, failed) &&
      fs::file_size(path, failed) <= kLargestKept)
    fs::copy_file(path, copy, failed);
  return copy;
}

fs::path ScratchFiles::folder(const fs::path& path) {
  fs::path copy = copy_of(path);
  if (is_there(copy)) return copy;
  std::error_code failed;
  if (++copies_ <= kMostCopies) fs::create_directories(copy, failed);
  return failed || copies_ > kMostCopies ? fs::path() : copy;
}

fs::path ScratchFiles::own(const std::string& name, const std::string& text) const {
  fs::path file = copy_of("/stepsim/" + name);
  fs::create_directories(file.parent_path());
  (std::ofstream(file, std::ios::app | std::ios::binary) << text).flush();
  return file;
}

void ScratchFiles::remove(const fs::path& path) const {
  std::error_code ignored;
  fs::remove(copy_of(path), ignored);
}

}  // namespace stepsim
