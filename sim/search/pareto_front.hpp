// Which of several sizes of a cluster are worth having: no other one is as good in all that counts
// and better in one thing.
#pragma once

#include <vector>

namespace stepsim {

/// What a size asks for; less is better.
struct SizeCosts {
  double gpus = 0;
  double time = 0;
  double cost = 0;  ///< dollars or GPU time
};

/// Whether each size is on the Pareto front of the three.
std::vector<bool> on_pareto_front(const std::vector<SizeCosts>& sizes);

}  // namespace stepsim
