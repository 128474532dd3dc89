// Time on a machine that others use at the same time.
#pragma once

namespace stepsim::cpu {

/// The clocks of the calling thread, in seconds since some moment.
struct Moment {
  double wall = 0;
  double cpu = 0;  ///< time that the thread ran
  /// time the thread could have run, but its core worked for another; 0 where Linux does not tell
  double waiting = 0;
};

Moment now();

struct Elapsed {
  double wall = 0, cpu = 0, waiting = 0;
  /// The time that the work would have taken had nobody else wanted the thread's core.
  double undisturbed() const { return wall - waiting; }
};

inline Elapsed operator-(const Moment& end, const Moment& start) {
  return {end.wall - start.wall, end.cpu - start.cpu, end.waiting - start.waiting};
}

}  // namespace stepsim::cpu
