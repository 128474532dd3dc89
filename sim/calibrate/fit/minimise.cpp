// The search for a least value: Subplex of NLopt, begun anew at its own end.
#include "sim/calibrate/fit/minimise.hpp"

#include <algorithm>
#include <cmath>

#include <nlopt.hpp>

#include "sim/core/error.hpp"

namespace stepsim::fit {
namespace {

using Objective = std::function<double(const std::vector<double>&)>;

// Judgement: a bound alone, for a search that is begun anew has to gain a thousandth.
constexpr int kMostSearches = 5;
constexpr double kStep = 0.1;  // first step over the range between the bounds. Judgement

double evaluate(const std::vector<double>& values, std::vector<double>&, void* objective) {
  const double value = (*static_cast<const Objective*>(objective))(values);
  // NLopt compares with <, so that NaN would win.
  return std::isfinite(value) ? value : HUGE_VAL;
}

/// Ends at `values`; returns the least value.
double search(Objective& objective, const std::vector<Parameter>& parameters, int& evaluations_left,
              std::vector<double>& values) {
  nlopt::opt optimiser(nlopt::LN_SBPLX, static_cast<unsigned>(values.size()));
  std::vector<double> low, high, step;
  for (const Parameter& parameter : parameters) {
    low.push_back(parameter.low);
    high.push_back(parameter.high);
    step.push_back(std::max(kStep * (parameter.high - parameter.low), 1e-300));
  }
  optimiser.set_min_objective(evaluate, &objective);
  optimiser.set_lower_bounds(low);
  optimiser.set_upper_bounds(high);
  optimiser.set_initial_step(step);
  // Finer than the four digits that constants are rounded to.
  optimiser.set_xtol_rel(1e-5);
  optimiser.set_ftol_rel(1e-7);
  optimiser.set_maxeval(evaluations_left);
  double least = 0;
  try {
    optimiser.optimize(values, least);
  } catch (const nlopt::roundoff_limited&) {
    // As near as doubles allow; `values` are the best so far.
  } catch (const std::exception& error) {
    throw InternalError(std::string("NLopt: ") + error.what());
  }
  evaluations_left = std::max(0, evaluations_left - optimiser.get_numevals());
  return objective(values);
}

}  // namespace

std::vector<double> minimise(const Objective& objective, const std::vector<Parameter>& parameters,
                             int most_evaluations) {
  std::vector<double> values;
  for (const Parameter& parameter : parameters) values.push_back(parameter.start);
  if (values.empty()) return values;
  Objective own = objective;
  double before = search(own, parameters, most_evaluations, values);
  for (int i = 1; i < kMostSearches && most_evaluations > 0; ++i) {
    std::vector<double> next = values;
    const double least = search(own, parameters, most_evaluations, next);
    if (least < before) values = next;
    if (least > 0.999 * before) break;
    before = least;
  }
  return values;
}

}  // namespace stepsim::fit
