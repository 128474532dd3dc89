// What the program is at, for those who wait in front of a terminal.
#pragma once

#include <csignal>

#include <sys/time.h>

namespace stepsim {

/// While it lives standard error says, from two seconds on, what is being done, how far a
/// simulation is, and how long the rest of it will take. By a timer's signal, for a simulation has
/// no place where it looks at a clock; copies of the process have no timer. One object at a time.
class Patience {
 public:
  /// `is_on`: false where nobody looks.
  explicit Patience(bool is_on);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  /// "simulating": what begins now. A text that lives as long as the program.
  void begins(const char* what) const;
  /// Empties the line, and says no more.
  void end();

 private:
  bool is_on_;
  struct sigaction before_ {};
};

}  // namespace stepsim
