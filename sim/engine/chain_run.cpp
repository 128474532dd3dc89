// Progress of a chain under changing speed.
#include "sim/engine/chain_run.hpp"

#include <algorithm>

namespace stepsim {

double ChainRun::end(const Taken& taken) const {
  if (!touched_ && taken.nothing()) {
    return std::max(host_ + chain_->launched, start_ + chain_->compute);
  }
  double date = now_;
  double done = done_;
  for (std::size_t i = kernel_; i < chain_->kernels.size(); ++i) {
    const Kernel& kernel = chain_->kernels[i];
    if (done <= 0) date = std::max(date, launched(i));
    date += (kernel.seconds - done) * slowdown(kernel, taken);
    done = 0;
  }
  return date;
}

void ChainRun::advance(double date, const Taken& taken) {
  if (date <= start_) return;
  touched_ = true;
  while (kernel_ < chain_->kernels.size()) {
    const Kernel& kernel = chain_->kernels[kernel_];
    if (done_ <= 0) now_ = begun_ = std::max(now_, launched(kernel_));
    if (now_ >= date) return;
    const double factor = slowdown(kernel, taken);
    const double needed = (kernel.seconds - done_) * factor;
    if (now_ + needed > date) {
      const double run = date - now_;
      done_ += run / factor;
      contention_ += run - run / factor;
      now_ = date;
      return;
    }
    contention_ += needed - (kernel.seconds - done_);
    now_ += needed;
    if (keeps_) kernels_.emplace_back(begun_, now_);
    done_ = 0;
    ++kernel_;
  }
}

void ChainRun::finish(double date, const Taken& taken) {
  advance(date, taken);
  for (; kernel_ < chain_->kernels.size(); ++kernel_) {
    if (done_ <= 0) begun_ = std::min(std::max(now_, launched(kernel_)), date);
    if (keeps_) kernels_.emplace_back(begun_, date);
    now_ = date;
    done_ = 0;
  }
}

}  // namespace stepsim
