// Quantiles computed in double, as the draws are kept: Boost's default goes through long double.
//
// That takes twice as long, and a step with jitter on every kernel draws by the million. What comes
// out differs in the last digit of a double, and not always.
#pragma once

#include <boost/math/policies/policy.hpp>

namespace stepsim {

using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace stepsim
