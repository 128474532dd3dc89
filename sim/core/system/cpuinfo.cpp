// Lines of /proc/cpuinfo, cut at their first colon.
#include "sim/core/system/cpuinfo.hpp"

#include <sstream>

#include "sim/core/trim.hpp"

namespace stepsim {

std::vector<std::pair<std::string, std::string>> cpuinfo_entries(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> entries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    entries.emplace_back(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return entries;
}

std::string cpu_model(const std::string& text) {
  for (const auto& [key, value] : cpuinfo_entries(text))
    if (key == "model name") return value;
  return "";
}

}  // namespace stepsim
