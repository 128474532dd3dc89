// How much others used this machine's cores in the meantime.
#pragma once

namespace stepsim::selfcheck {

/// Seconds of all cores since the machine started: all seconds, and those that somebody used, other
/// machines on the host among them; both 0 where Linux does not tell.
struct CoreTime {
  double all = 0, used = 0;
};

/// The share of the cores that others had since an Others was made.
class Others {
 public:
  Others();
  /// The share from 0 to 1; 1 where Linux does not tell.
  double share() const;

 private:
  CoreTime start_;
  double own_;
};

}  // namespace stepsim::selfcheck
