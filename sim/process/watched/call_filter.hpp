// The system calls that a watched program may make, as a filter of the kernel (seccomp(2)).
#pragma once

#include <vector>

#include <linux/filter.h>

namespace stepsim {

/// Lets pass what only reads, computes, forks or pipes; hands calls with a path over to the process
/// that watches (SECCOMP_RET_TRACE); answers "done" to calls that change attributes of files and
/// limits, and does nothing; refuses all others, among them sockets, mounts, signals to strangers
/// and every call that is not known here.
std::vector<sock_filter> call_filter();

/// Installs it in this process and in all that it starts, for good; safe between fork and exec.
/// Returns false where the kernel has no filters.
bool install(const std::vector<sock_filter>& filter);

}  // namespace stepsim
