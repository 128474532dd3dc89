// How many points each family needs, and which of them show nothing.
#include "sim/command/enough_points.hpp"

#include <map>

#include <fmt/format.h>

#include "sim/command/profile_draft.hpp"
#include "sim/core/overloaded.hpp"

namespace stepsim {
namespace {

/// A family of constants, as reports call it.
struct Family {
  std::string name, path;
  int needed = 1;  ///< as many as the fit has constants, at least
};

Family family_of(const calib::Point& point) {
  using calib::name_of;
  return std::visit(
      Overloaded{
          [](const calib::GemmPoint& p) -> Family {
            return {fmt::format("gemm {}", name_of(p.dtype)),
                    fmt::format("gemm.{}", name_of(p.dtype)), static_cast<int>(kFewestGemms)};
          },
          [](const calib::MemoryPoint& p) -> Family {
            const char* rate = name_of_rate(rate_of(p.op));
            return {fmt::format("memory {}", rate), fmt::format("memory_kernels.{}", rate), 2};
          },
          [](const calib::AttentionPoint& p) -> Family {
            return {fmt::format("attention {}, head {}", name_of(p.kernel), p.head_dim), "", 4};
          },
          [](const calib::ConvolutionPoint& p) -> Family {
            return {fmt::format("convolution {}", name_of(p.dtype)),
                    fmt::format("gemm.{}.convolution", name_of(p.dtype)), 4};
          },
          [](const calib::CopyPoint& p) -> Family {
            return {fmt::format("copy {} {}", name_of(p.direction), name_of(p.host)), "", 2};
          },
          [](const calib::CollectivePoint& p) -> Family {
            return {fmt::format("{}, {} GPUs", name_of(p.op), p.gpus), "", 2};
          },
          [](const auto&) -> Family { return {}; }},
      point);
}

}  // namespace

std::vector<calib::Record> fittable(const std::vector<MeasuredFile>& files,
                                    std::vector<FewPoints>& few) {
  std::map<std::string, FewPoints> families;
  const auto each = [&](auto&& use) {
    for (const MeasuredFile& file : files)
      for (std::size_t i = 0; i < file.content.records.size(); ++i)
        if (file.content.records[i].skipped.empty()) use(file, i);
  };
  each([&](const MeasuredFile& file, std::size_t i) {
    const Family family = family_of(file.content.records[i].point);
    const Place place = i < file.places.size() ? file.places[i] : Place{};
    const auto [counted, is_new] =
        families.emplace(family.name, FewPoints{family.name, family.path, 0, family.needed, place});
    ++counted->second.points;
  });
  std::vector<calib::Record> records;
  each([&](const MeasuredFile& file, std::size_t i) {
    const FewPoints& family = families.at(family_of(file.content.records[i].point).name);
    if (family.points >= family.needed) records.push_back(file.content.records[i]);
  });
  for (const auto& [name, family] : families)
    if (family.points < family.needed) few.push_back(family);
  return records;
}

Place first_of(const std::vector<MeasuredFile>& files, const std::string& family) {
  for (const MeasuredFile& file : files) {
    for (std::size_t i = 0; i < file.places.size(); ++i) {
      const calib::Record& record = file.content.records[i];
      const std::string own = family_of(record.point).name;
      if (record.skipped.empty() && !own.empty() && family.starts_with(own)) return file.places[i];
    }
  }
  return {};
}

void check_copies_grow(const std::vector<MeasuredFile>& files) {
  struct Copy {
    double bytes = 0, seconds = 0;
    Place place;
  };
  std::map<std::string, std::pair<Copy, Copy>> ends;  // the smallest and the largest of a family
  for (const MeasuredFile& file : files) {
    for (std::size_t i = 0; i < file.places.size(); ++i) {
      const calib::Record& record = file.content.records[i];
      const auto* point = std::get_if<calib::CopyPoint>(&record.point);
      if (point == nullptr || !record.skipped.empty()) continue;
      const Copy copy{static_cast<double>(point->bytes), record.measured.timing.seconds,
                      file.places[i]};
      auto& [least, most] =
          ends.emplace(family_of(record.point).name, std::pair(copy, copy)).first->second;
      if (copy.bytes < least.bytes) least = copy;
      if (copy.bytes > most.bytes) most = copy;
    }
  }
  Problems problems;
  for (const auto& [family, copies] : ends) {
    const auto& [least, most] = copies;
    if (most.bytes > least.bytes && most.seconds <= least.seconds)
      problems.add(most.place, "",
                   fmt::format("{}: {:.0f} bytes take {:.4g} s, and {:.0f} take {:.4g} s: times "
                               "that do not grow show no rate",
                               family, least.bytes, least.seconds, most.bytes, most.seconds),
                   "measure larger copies");
  }
  problems.throw_if_any();
}

}  // namespace stepsim
