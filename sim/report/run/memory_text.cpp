// Writes peaks and categories as text.
#include "sim/report/run/memory_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/text/humanise.hpp"

namespace stepsim {

namespace {

constexpr std::size_t kNamed = 6;  // more categories would leave no room for the rest of the screen

}  // namespace

std::string moment_of(const PeakMoment& peak, bool chunks) {
  return fmt::format("{} of micro-batch {}{}", name_of(peak.pass.pass), peak.pass.micro_batch,
                     chunks ? fmt::format(", chunk {}", peak.pass.chunk) : "");
}

std::string place_of(const PeakMoment& peak) {
  return fmt::format("{} of {}", peak.op.empty() ? "the end" : peak.op, peak.block);
}

std::string categories_of(const StageMemory& stage) {
  auto sorted = stage.categories;
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  Bytes others;
  while (sorted.size() > kNamed) {
    others += sorted.back().bytes;
    sorted.pop_back();
  }
  sorted.push_back({"others", others});
  const Column column = column_for(stage.total());
  std::string text;
  for (const MemoryCategory& category : sorted) {
    const std::string number = column.number(category.bytes.bytes());
    if (number.find_first_not_of("0.") == std::string::npos) continue;
    text += text.empty() ? fmt::format("{} {} {}", category.name, number, column.unit)
                         : fmt::format(", {} {}", category.name, number);
  }
  return text;
}

std::string full_memory_text(Bytes used, Bytes capacity) {
  if (!is_nearly_full(used, capacity)) return "";
  return fmt::format("fills {:.0f} % of the memory: {}", 100 * (used / capacity), kFullMemoryFact);
}

}  // namespace stepsim
