// Who else used this machine's cores meanwhile.
#pragma once

namespace stepsim::selfcheck {

/// Seconds of all cores since the machine started: all of them, and those that somebody used, other
/// machines on the same host among them; both 0 where Linux does not tell.
struct CoreTime {
  double all = 0, used = 0;
};

/// Which share of the cores others had since it was made.
class Others {
 public:
  Others();
  /// 1 where Linux does not tell.
  double share() const;

 private:
  CoreTime start_;
  double own_;
};

}  // namespace stepsim::selfcheck
