// The entries of /proc/cpuinfo (proc(5)): "model name : AMD EPYC" and so on.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace stepsim {

/// Key and value of every line that has both, in order and without blanks around them.
std::vector<std::pair<std::string, std::string>> cpuinfo_entries(const std::string& text);

/// The first "model name"; "" where there is none.
std::string cpu_model(const std::string& text);

}  // namespace stepsim
