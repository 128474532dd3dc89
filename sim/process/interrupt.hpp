// Ctrl-C and SIGTERM, for commands that print what is known by then.
#pragma once

#include <csignal>

namespace stepsim {

/// Until an InterruptNoted begins, there is nothing to print: the signals say so on standard error
/// and exit with ExitCode::incomplete.
void exit_when_interrupted();

/// While it lives Ctrl-C and SIGTERM are noted instead of ending the process; one that comes two
/// seconds or more after the first ends it after all. Within another one it is a part of that: a
/// signal that came before came for it, too.
class InterruptNoted {
 public:
  InterruptNoted();
  ~InterruptNoted();
  InterruptNoted(const InterruptNoted&) = delete;
  InterruptNoted& operator=(const InterruptNoted&) = delete;
  /// Whether one of them came.
  static bool came();
  /// As if one came: it ended a copy of this process, which had it first.
  static void note();
  /// Handles signals as before: for a copy, which they end.
  void restore() const;

 private:
  bool is_within_another_;
  struct sigaction on_interrupt_ {};
  struct sigaction on_terminate_ {};
};

}  // namespace stepsim
