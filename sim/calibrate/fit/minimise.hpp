// The least value of a function of a few numbers, by NLopt (S. G. Johnson).
#pragma once

#include <functional>
#include <vector>

namespace stepsim::fit {

/// A number to search for.
struct Parameter {
  double start = 1;
  double low = 0, high = 1;
};

/// The numbers, within their bounds, at which `objective` is least as far as a local search finds:
/// Subplex (T. Rowan 1990), which needs no derivatives, begun anew at its own end until that gains
/// less than a thousandth, or until so many evaluations. Deterministic. REQUIRES: low <= start <=
/// high, an objective that is finite there.
std::vector<double> minimise(const std::function<double(const std::vector<double>&)>& objective,
                             const std::vector<Parameter>& parameters,
                             int most_evaluations = 100'000);

}  // namespace stepsim::fit
