// The mean of the largest of n draws from a normal distribution: how slow the slowest of n GPUs is.
#pragma once

namespace stepsim {

/// The mean of the maximum of n independent draws, in standard deviations above the mean of one: 0
/// of one draw, 0.564 of 2, 1.42 of 8, 3.24 of 1000. It is the integral of x n phi(x) Phi(x)^(n -
/// 1) (H. A. David and H. N. Nagaraja, Order Statistics, 3rd edition, 2003, eq. 3.1.1), within
/// 1e-8. n >= 1.
double expected_maximum_of_normals(int n);

}  // namespace stepsim
