// Reads the clocks of Linux, and its book of who waited for a core.
#include "calib/cpu/stopwatch.hpp"

#include <array>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <unistd.h>

namespace stepsim::cpu {
namespace {

double seconds(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Reads the second number of /proc/thread-self/schedstat
/// (Documentation/scheduler/sched-stats.rst): the nanoseconds in which the thread waited for a
/// core.
class Book {
 public:
  Book() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  ~Book() {
    if (file_ >= 0) close(file_);
  }
  Book(const Book&) = delete;
  Book& operator=(const Book&) = delete;

  double waited() const {
    std::array<char, 128> text = {};
    if (file_ < 0 || pread(file_, text.data(), text.size() - 1, 0) <= 0) return 0;
    char* rest = nullptr;
    (void)std::strtoull(text.data(), &rest, 10);
    return 1e-9 * static_cast<double>(std::strtoull(rest, nullptr, 10));
  }

 private:
  int file_;
};

}  // namespace

Moment now() {
  thread_local const Book book;
  // Reads all three clocks again where the thread waited between them, so that they tell one
  // moment.
  for (;;) {
    const double waited = book.waited();
    const Moment moment{seconds(CLOCK_MONOTONIC), seconds(CLOCK_THREAD_CPUTIME_ID), waited};
    if (book.waited() == waited) return moment;
  }
}

}  // namespace stepsim::cpu
