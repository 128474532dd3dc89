// What an export of nsys cannot answer, in sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/recording/interval_set.hpp"
#include "sim/recording/nsys/nsys_database.hpp"

namespace stepsim {

/// Events of which nsys says that they may be lost.
std::vector<std::string> about_lost_events(NsysDatabase& database);

/// When threads of each process, by its globalPid, waited because a buffer of commands was full.
std::map<std::uint64_t, std::vector<Interval>> full_buffers(NsysDatabase& database);

/// What follows where a process waited for room in its buffers of commands.
std::string about_full_buffers(std::vector<Interval> waits);

/// What is not known of graphs that were recorded without their kernels.
std::string about_whole_graphs(std::size_t replays);

/// Which ranges are taken for steps.
std::string about_steps_taken(const std::string& first);

inline constexpr const char* kAboutOperators =
    "Each operator of PyTorch is an NVTX range (emit_nvtx), which slows the host: without that, "
    "late-host time is shorter.";

}  // namespace stepsim
