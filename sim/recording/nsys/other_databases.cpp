// Names databases of other programs by tables that only they have.
#include "sim/recording/nsys/other_databases.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/source.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kListed = 4;

/// Tables begin with the first; the database is the second.
constexpr std::array kKnown{
    std::pair{
        "expert_systems_feedback",
        "the database of DLProf, which holds sums: name the file that nsys exported beside it"},
    std::pair{"rocpd_", "a database of ROCm's profiler (rocpd), which is not read"},
    std::pair{"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
              "a database of nvprof, which is not read: record with nsys or torch.profiler"},
    std::pair{"sweeps", "a file of sweeps of stepsim"},
};

bool is_of_nsys(const std::set<std::string>& tables) {
  return tables.contains("StringIds") && std::ranges::any_of(tables, [](const std::string& table) {
           return table == "META_DATA_EXPORT" || table == "EXPORT_META_DATA" ||
                  table == "NVTX_EVENTS" || table.starts_with("CUPTI_ACTIVITY_KIND_");
         });
}

}  // namespace

std::string other_database_by_tables(const std::set<std::string>& tables) {
  if (tables.empty()) return "a database without tables";
  for (const auto& [beginning, is] : kKnown) {
    const auto at = tables.lower_bound(beginning);
    if (at != tables.end() && at->starts_with(beginning)) return is;
  }
  if (is_of_nsys(tables)) return "";
  std::vector<std::string> some;
  for (const std::string& table : tables) {
    if (some.size() < kListed) some.push_back(quoted(table));
  }
  return fmt::format("a database of another program: its tables are {}{}", fmt::join(some, ", "),
                     tables.size() > kListed ? ", ..." : "");
}

}  // namespace stepsim
