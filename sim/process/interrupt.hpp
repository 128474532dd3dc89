// Ctrl-C, SIGTERM and SIGHUP, for commands that print what is known by then, or clean up.
#pragma once

#include <array>
#include <csignal>

#include "sim/core/error.hpp"

namespace stepsim {

/// Until an InterruptNoted begins, there is nothing to print: the signals say so on standard error
/// and exit with ExitCode::incomplete.
void exit_when_interrupted();

/// While it lives Ctrl-C, SIGTERM and SIGHUP are noted instead of ending the process; one that
/// comes two seconds or more after the first ends it after all. Within another one it is a part of
/// that: a signal that came before came for it, too.
class InterruptNoted {
 public:
  InterruptNoted();
  ~InterruptNoted();
  InterruptNoted(const InterruptNoted&) = delete;
  InterruptNoted& operator=(const InterruptNoted&) = delete;
  /// Whether one of them came.
  static bool came();
  /// The one that came first; 0: none.
  static int signal();
  /// As if one came: it ended a copy of this process, which had it first.
  static void note(int signal);
  /// Handles signals as before: for a copy, which they end.
  void restore() const;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

  bool is_within_another_;
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// A signal came for a command that knows nothing before its end: it ends the program, once what
/// lies about is put away.
class Interrupted : public SimulationError {
 public:
  Interrupted() : SimulationError("interrupted"), signal_(InterruptNoted::signal()) {}
  /// Ends this process by the signal, so that its caller learns of it.
  [[noreturn]] void end_process() const;

 private:
  int signal_;
};

}  // namespace stepsim
