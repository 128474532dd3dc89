// A chain under way: how far it is, and when it ends at the present speed.
//
// As long as nothing runs beside it a chain ends at max(host + launched, start + compute). When a
// collective starts or ends beside it, the chain is advanced to that date kernel by kernel and goes
// on at the new speed.
#pragma once

#include <utility>
#include <vector>

#include "sim/plan/group/resources.hpp"
#include "sim/plan/plan.hpp"

namespace stepsim {

class ChainRun {
 public:
  ChainRun() = default;
  /// The GPU is free at `start`; the host begins to launch at `host`. `keeps`: remember kernels().
  ChainRun(const Chain& chain, double start, double host, bool keeps)
      : chain_(&chain), host_(host), start_(start), keeps_(keeps), now_(start) {}

  /// When it ends if nothing changes from now on.
  double end(const Taken& taken) const;
  /// Lets time pass until `date` under what was taken since the last call.
  void advance(double date, const Taken& taken);

  /// Ends the chain at `date`, with what rounding left open.
  void finish(double date, const Taken& taken);

  bool touched() const { return touched_; }
  double contention() const { return contention_; }
  /// Start and end of each kernel passed by advance().
  const std::vector<std::pair<double, double>>& kernels() const { return kernels_; }

 private:
  double launched(std::size_t kernel) const {
    return host_ + chain_->launch_each * static_cast<double>(kernel + 1) +
           chain_->kernels[kernel].host_until;
  }

  const Chain* chain_ = nullptr;
  double host_ = 0, start_ = 0;
  bool keeps_ = false;
  double now_ = 0;          // advanced until here
  std::size_t kernel_ = 0;  // the one that runs, or runs next
  double begun_ = 0;        // when it started
  double done_ = 0;         // seconds of the chain that are done, at full speed
  double contention_ = 0;
  bool touched_ = false;  // advanced at least once
  std::vector<std::pair<double, double>> kernels_;
};

}  // namespace stepsim
