// How many points each family needs, and which of them show nothing.
#include "sim/calibrate/profile/fittable_points.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/calibrate/fit/line.hpp"
#include "sim/calibrate/profile/collective_groups.hpp"
#include "sim/cluster/memory_rate.hpp"
#include "sim/core/overloaded.hpp"

namespace stepsim {
namespace {

/// A family of constants, as reports call it.
struct Family {
  std::string name, path;
  std::set<std::string> constants;  ///< constants that the point shows; a fit needs as many points
  int least = 1;       ///< points that a fit needs at least, whatever they show; 0: no fit
  bool counts = true;  ///< false: the fit leaves the point out, and says so
};

/// Kinds that no constant of a profile is fitted to.
Family unused(const std::string& name) { return {.name = name, .least = 0}; }

Family family_of(const AttentionPoint& p) {
  if (!is_fitted(p))
    return {.name = fmt::format("attention {} {}", name_of(p.kernel), name_of(p.dtype)),
            .counts = false};
  Family family{.name = fmt::format("attention {}, head {}", name_of(p.kernel), p.head_dim)};
  family.constants = {"overhead"};
  if (p.pass == AttentionPass::backward) {
    family.constants.insert("backward_rate");
  } else if (p.causal) {
    family.constants.insert({"plateau", "half_sequence", "last_tile"});
  } else {
    family.constants.insert({"full_plateau", "full_half_sequence"});
  }
  return family;
}

Family family_of(const MemoryOpPoint& p) {
  const char* rate = class_of(rate_of(p.op)).name;
  return {.name = fmt::format("memory {}", rate),
          .path = fmt::format("memory_kernels.{}", rate),
          .constants = {"rate", "latency"}};
}

Family family_of(const CollectivePoint& p) {
  const std::string title = group_of(p).title();
  if (stated_collective(p.op) == nullptr) return unused(title);
  return {.name = title, .least = 2, .counts = is_fitted(p)};
}

Family family_of(const Point& point) {
  return std::visit(
      Overloaded{[](const GemmPoint& p) -> Family {
                   return {.name = fmt::format("gemm {}", name_of(p.dtype)),
                           .path = fmt::format("gemm.{}", name_of(p.dtype)),
                           .least = static_cast<int>(kFewestGemms)};
                 },
                 [](const ConvolutionPoint& p) -> Family {
                   return {.name = fmt::format("convolution {}", name_of(p.dtype)),
                           .path = fmt::format("gemm.{}.convolution", name_of(p.dtype)),
                           .least = 4,
                           .counts = is_fitted(p)};
                 },
                 [](const CopyPoint& p) -> Family {
                   return {.name = fmt::format("copy {} {}", name_of(p.direction), name_of(p.host)),
                           .least = 2};
                 },
                 [](const LaunchPoint& p) -> Family {
                   return {.name = fmt::format("launch {}", name_of(p.cost))};
                 },
                 [](const QueuePoint&) { return unused("queue"); },
                 [](const OverlapPoint&) { return unused("overlap"); },
                 [](const FileReadPoint&) { return unused("file_read"); },
                 [](const DecodePoint&) { return unused("decode"); },
                 [](const MemoryOpPoint& p) { return family_of(p); },
                 [](const AttentionPoint& p) { return family_of(p); },
                 [](const CollectivePoint& p) { return family_of(p); }},
      point);
}

/// Calls `use(record, place)` for each measured point of all files.
template <class F>
void for_each_measured(const std::vector<MeasuredFile>& files, F&& use) {
  for (const MeasuredFile& file : files) {
    for (std::size_t i = 0; i < file.content.records.size(); ++i) {
      const PointRecord& record = file.content.records[i];
      if (record.skipped.empty()) use(record, i < file.places.size() ? file.places[i] : Place{});
    }
  }
}

/// All families that have points which count, with what they need.
std::map<std::string, FewPoints> counted(const std::vector<MeasuredFile>& files) {
  std::map<std::string, FewPoints> counts;
  std::map<std::string, std::set<std::string>> constants;
  for_each_measured(files, [&](const PointRecord& record, const Place& place) {
    const Family family = family_of(record.point);
    if (!family.counts) return;
    FewPoints& count =
        counts.emplace(family.name, FewPoints{family.name, family.path, 0, family.least, place})
            .first->second;
    ++count.points;
    std::set<std::string>& shown = constants[family.name];
    shown.insert(family.constants.begin(), family.constants.end());
    if (record.measured.with_launch) shown.insert("launch");
    count.needed = std::max(family.least, static_cast<int>(shown.size()));
  });
  return counts;
}

struct Copies {
  std::vector<fit::Message> messages;
  fit::Message least, most;
  Place place;  ///< place of the largest copy
};

void check_copies(const std::string& family, const Copies& copies, Problems& problems) {
  const fit::Message &least = copies.least, &most = copies.most;
  if (copies.messages.size() < 2 || fit::line_through(copies.messages).seconds_per_byte > 0) return;
  const std::string what =
      least.bytes == most.bytes
          ? fmt::format("all {} are of {:.0f} bytes: one size shows no rate",
                        copies.messages.size(), least.bytes.bytes())
          : fmt::format(
                "{:.0f} bytes take {:.4g} s, and {:.0f} take {:.4g} s: times that do not "
                "grow show no rate",
                least.bytes.bytes(), least.seconds.seconds(), most.bytes.bytes(),
                most.seconds.seconds());
  problems.add(copies.place, "", fmt::format("{}: {}", family, what),
               least.bytes == most.bytes ? "measure several sizes" : "measure larger copies");
}

std::map<std::string, Copies> copies_of(const std::vector<MeasuredFile>& files) {
  std::map<std::string, Copies> families;
  for_each_measured(files, [&](const PointRecord& record, const Place& place) {
    const auto* point = std::get_if<CopyPoint>(&record.point);
    if (point == nullptr) return;
    const fit::Message copy{Bytes{static_cast<double>(point->bytes)},
                            Seconds{record.measured.timing.seconds}};
    Copies& family =
        families.emplace(family_of(record.point).name, Copies{{}, copy, copy, place}).first->second;
    family.messages.push_back(copy);
    if (copy.bytes < family.least.bytes) family.least = copy;
    if (copy.bytes > family.most.bytes) {
      family.most = copy;
      family.place = place;
    }
  });
  return families;
}

/// The first point of each kernel that was measured backward alone.
std::map<std::string, Place> backward_alone(const std::vector<MeasuredFile>& files) {
  std::map<std::string, Place> first;
  std::set<std::string> forward;
  for_each_measured(files, [&](const PointRecord& record, const Place& place) {
    const auto* point = std::get_if<AttentionPoint>(&record.point);
    if (point == nullptr || !is_fitted(*point)) return;
    const std::string family = family_of(record.point).name;
    if (point->pass == AttentionPass::forward) forward.insert(family);
    first.emplace(family, place);
  });
  for (const std::string& family : forward) first.erase(family);
  return first;
}

}  // namespace

std::vector<PointRecord> fittable(const std::vector<MeasuredFile>& files,
                                  std::vector<FewPoints>& few) {
  const std::map<std::string, FewPoints> families = counted(files);
  std::vector<PointRecord> records;
  for_each_measured(files, [&](const PointRecord& record, const Place&) {
    const Family family = family_of(record.point);
    const auto of_family = families.find(family.name);
    if (!family.counts || of_family->second.is_enough()) records.push_back(record);
  });
  for (const auto& [name, family] : families)
    if (!family.is_enough()) few.push_back(family);
  return records;
}

Place first_point_of(const std::vector<MeasuredFile>& files, const std::string& family) {
  Place first;
  for_each_measured(files, [&](const PointRecord& record, const Place& place) {
    if (first.source == nullptr && family.starts_with(family_of(record.point).name)) first = place;
  });
  return first;
}

void check_rates_show(const std::vector<MeasuredFile>& files, const std::vector<FewPoints>& few) {
  Problems problems;
  for (const auto& [family, copies] : copies_of(files)) check_copies(family, copies, problems);
  for (const auto& [family, place] : backward_alone(files)) {
    const bool is_few = std::ranges::any_of(
        few, [&name = family](const FewPoints& one) { return one.family == name; });
    if (!is_few)
      problems.add(place, "", fmt::format("{}: backward passes alone do not give a rate", family),
                   "measure forward passes, too");
  }
  problems.throw_if_any();
}

}  // namespace stepsim
