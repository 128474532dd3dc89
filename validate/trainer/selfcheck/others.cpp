// Reads the times that Linux counts (proc(5), /proc/stat; getrusage(2)).
#include "validate/trainer/selfcheck/others.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace stepsim::selfcheck {
namespace {

CoreTime core_time() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  CoreTime time;
  file >> cpu;
  double ticks = 0;
  // The fields are user nice system idle iowait irq softirq steal.
  for (int field = 0; field < 8 && file >> ticks; ++field) {
    time.all += ticks;
    if (field != 3 && field != 4) time.used += ticks;
  }
  const auto second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {time.all / second, time.used / second};
}

/// CPU seconds of this process and of the processes that it waited for.
double own_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

}  // namespace

Others::Others() : start_(core_time()), own_(own_seconds()) {}

double Others::share() const {
  const CoreTime now = core_time();
  const double all = now.all - start_.all, used = now.used - start_.used;
  return all > 0 ? std::max(0.0, used - (own_seconds() - own_)) / all : 1;
}

}  // namespace stepsim::selfcheck
