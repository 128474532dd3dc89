// Takes the lock with flock, and waits a little where it is taken.
#include "sim/store/writer_lock.hpp"

#include <cerrno>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

using Clock = std::chrono::steady_clock;

/// how long the copies of a killed program take to die
constexpr std::chrono::milliseconds kPatience{2000};
constexpr useconds_t kBetweenTries_us = 50'000;

}  // namespace

WriterLock::WriterLock(const std::string& path)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  const auto end = Clock::now() + kPatience;
  while (file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (Clock::now() < end) {
      usleep(kBetweenTries_us);
      continue;
    }
    close(file_);
    throw IoError(fmt::format(
        "another stepsim writes '{}': wait for it, or choose another file with --db", path));
  }
}

WriterLock::~WriterLock() {
  if (file_ >= 0) close(file_);
}

WriterLock::WriterLock(WriterLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

}  // namespace stepsim
