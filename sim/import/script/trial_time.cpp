// Asks the system for the time of the processes that were started.
#include "sim/import/script/trial_time.hpp"

#include <sys/resource.h>

namespace stepsim {
namespace {

/// A user waits for the answer; scripts of 300 lines take half a second.
constexpr double kMostCpuSeconds = 4;
/// Scripts that wait take no time of processors.
constexpr std::chrono::seconds kMost{30};

}  // namespace

bool TrialTime::is_over() const {
  return cpu_seconds_of_children() - cpu_begin_ > kMostCpuSeconds ||
         std::chrono::steady_clock::now() - begin_ > kMost;
}

double TrialTime::cpu_seconds_of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace stepsim
