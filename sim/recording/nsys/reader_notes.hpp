// What an export of nsys cannot answer, in sentences.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/recording/nsys/nsys_database.hpp"

namespace stepsim {

/// Of the whole file: lost events that nsys tells of, and full buffers.
std::vector<std::string> sentences_about(NsysDatabase& database);

/// Of graphs that were recorded without their kernels.
std::string about_whole_graphs(std::size_t replays);

/// Of ranges that are taken for steps.
std::string about_steps_taken(const std::string& first);

inline constexpr const char* kAboutOperators =
    "Each operator of PyTorch is an NVTX range (emit_nvtx), which slows the host: without that, "
    "late-host time is shorter.";

}  // namespace stepsim
