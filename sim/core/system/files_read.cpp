// Keeps what was read as pairs of device and inode.
#include "sim/core/system/files_read.hpp"

#include <mutex>
#include <set>
#include <utility>

namespace stepsim {
namespace {

struct Noted {
  std::mutex mutex;
  std::set<std::pair<dev_t, ino_t>> files;
};

/// Files are read by the process, whoever in it asks.
Noted& noted() {
  static Noted all;
  return all;
}

}  // namespace

void note_read(const struct stat& file) {
  if (!S_ISREG(file.st_mode)) return;
  const std::lock_guard lock(noted().mutex);
  noted().files.emplace(file.st_dev, file.st_ino);
}

void note_read(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) == 0) note_read(file);
}

void forget_reads() {
  const std::lock_guard lock(noted().mutex);
  noted().files.clear();
}

bool was_read(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return false;
  const std::lock_guard lock(noted().mutex);
  return noted().files.contains({file.st_dev, file.st_ino});
}

}  // namespace stepsim
