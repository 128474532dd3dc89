// Makes a sentence from counts.
#include "sim/report/run/fit_words.hpp"

#include <fmt/format.h>

#include "sim/text/humanise.hpp"

namespace stepsim {

std::string fit_words(int rows, const std::vector<std::pair<std::string, int>>& not_fitting) {
  int count = 0;
  std::string suites;
  for (const auto& [suite, own] : not_fitting) {
    if (own == 0) continue;
    count += own;
    suites += fmt::format("{}{} {}", suites.empty() ? "" : ", ", suite, grouped(own));
  }
  if (count == 0) return "";
  return fmt::format("{} of {} rows ran and {} predicted not to fit in memory, by suite: {}.",
                     grouped(count), grouped(rows), count == 1 ? "is" : "are", suites);
}

}  // namespace stepsim
