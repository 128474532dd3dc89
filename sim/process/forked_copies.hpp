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

/// The copies that run, and what they have said so far. Copies that are still there in the end are
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

  /// Copies at work.
  std::size_t running() const;
  void start(std::int64_t index);

  /// Waits until one of them says something, is out of time, or the time is over; calls `on_end`
  /// for those that ended. A signal ends it early.
  void listen(std::chrono::milliseconds most);
  /// Hears what has been said so far.
  void drain();

 private:
  enum class State : std::uint8_t { works, waits, leaves };
  struct Copy {
    std::int64_t index;  ///< of its piece
    State state;
    pid_t process;
    int line;          ///< answers come over it, and further pieces go
    std::string said;  ///< so much of an answer as has come
    std::chrono::steady_clock::time_point begin;
  };

  bool keeps_copies() const { return limits_.copies == Copies::kept && limits_.bytes <= 0; }
  bool give_to_one_that_waits(std::int64_t index);
  [[noreturn]] void work_on(std::int64_t index, int line);
  void hear_end(std::size_t i);
  int time_left_ms(std::chrono::milliseconds most) const;
  void end_late_ones();
  int hear_all(int milliseconds);
  void hear(std::size_t i);
  void leave(std::size_t i, Ending how, std::string text);
  std::string late_text() const;
  std::string memory_text() const;
  static void end(const Copy& copy);

  const InterruptNoted& noted_;
  const ForkLimits& limits_;
  const std::function<std::string(std::int64_t)>& work_;
  const std::function<void(Ended)>& on_end_;
  std::vector<Copy> copies_;
};

}  // namespace stepsim
