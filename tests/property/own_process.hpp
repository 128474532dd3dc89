// A simulation in a process of its own: SimGrid's clock starts at zero there. In one process it
// goes on from run to run, and rounds ever more coarsely.
#pragma once

#include <cstdlib>
#include <functional>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/engine/simulate.hpp"

namespace stepsim {

/// `before`: what is simulated first, in the same process.
inline std::vector<double> step_ends_in_own_process(
    const Plan& plan, const SimulateOptions& options, const std::function<void()>& before = [] {}) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    before();
    const std::vector<double> dates = simulate(plan, options).timeline.step_ends;
    const auto size = static_cast<ssize_t>(dates.size() * sizeof(double));
    _exit(write(ends[1], dates.data(), dates.size() * sizeof(double)) == size ? 0 : 1);
  }
  close(ends[1]);
  std::vector<double> dates;
  double date = 0;
  while (read(ends[0], &date, sizeof date) == sizeof date) dates.push_back(date);
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return dates;
}

}  // namespace stepsim
