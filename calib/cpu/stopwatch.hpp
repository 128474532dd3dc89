// Time on a machine that others use, too.
#pragma once

namespace stepsim::cpu {

/// Of the calling thread, in seconds since some moment.
struct Moment {
  double wall = 0;
  double cpu = 0;  ///< it ran
  /// time the thread could have run, but its core worked for another; 0 where Linux does not tell
  double waiting = 0;
};

Moment now();

struct Elapsed {
  double wall = 0, cpu = 0, waiting = 0;
  /// What it would have taken had nobody else wanted its core.
  double undisturbed() const { return wall - waiting; }
};

inline Elapsed operator-(const Moment& end, const Moment& start) {
  return {end.wall - start.wall, end.cpu - start.cpu, end.waiting - start.waiting};
}

}  // namespace stepsim::cpu
