// Copies of this process that each do a piece of work, and are listened to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "sim/process/forked.hpp"
#include "sim/process/interrupt.hpp"

namespace stepsim {

/// The copies that run, and what they have said so far. Copies that still run in the end are
/// killed, and so are the copies of a process that dies.
class ForkedCopies {
 public:
  /// REQUIRES: all of these live as long as it does.
  ForkedCopies(const InterruptNoted& noted, const ForkLimits& limits,
               const std::function<std::string(std::int64_t)>& work,
               const std::function<void(Ended)>& on_end);
  ~ForkedCopies();
  ForkedCopies(const ForkedCopies&) = delete;
  ForkedCopies& operator=(const ForkedCopies&) = delete;

  std::size_t running() const { return copies_.size(); }
  void start(std::int64_t index);

  /// Waits until one of them says something, is out of time, or the time is over; calls `on_end`
  /// for those that ended. A signal ends it early.
  void listen(std::chrono::milliseconds most);
  /// Hears what has been said so far.
  void drain();

 private:
  struct Copy {
    std::int64_t index;
    pid_t process;
    int pipe;
    std::string said;
    std::chrono::steady_clock::time_point begin;
  };

  int time_left_ms(std::chrono::milliseconds most) const;
  void end_late_ones();
  int hear_all(int milliseconds);
  void hear(std::size_t i);
  void leave(std::size_t i, Ending how, std::string text);
  std::string memory_text() const;
  static void end(const Copy& copy);

  const InterruptNoted& noted_;
  const ForkLimits& limits_;
  const std::function<std::string(std::int64_t)>& work_;
  const std::function<void(Ended)>& on_end_;
  std::vector<Copy> copies_;
};

}  // namespace stepsim
