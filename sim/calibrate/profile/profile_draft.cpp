// Sources, classes and ranges of fitted constants, in words.
#include "sim/calibrate/profile/profile_draft.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {

std::string ProfileOrigin::text(int points) const {
  std::string text = files + " (";
  if (!device.empty()) text += device + ", ";
  if (!date.empty()) text += date + ", ";
  return text + fmt::format("{} point{})", points, points == 1 ? "" : "s");
}

std::string fit_source(const ProfileOrigin& origin, const FamilyReport& report) {
  const int points = report.errors.points;
  return fmt::format("fitted to {}, {} error {}", origin.text(points),
                     report.held_out ? "held-out" : "fit", percent(report.errors.mean));
}

std::string id_of(const std::string& path) {
  std::string id;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) {
      id += c;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

MemoryRate rate_of(MemoryOp op) {
  switch (op) {
    case MemoryOp::copy:
    case MemoryOp::add:
    case MemoryOp::sum:
    case MemoryOp::relu:
      return MemoryRate::elementwise;
    case MemoryOp::norm:
      return MemoryRate::norm;
    case MemoryOp::softmax:
      return MemoryRate::softmax;
    case MemoryOp::dropout:
      return MemoryRate::dropout;
    case MemoryOp::cross_entropy:
    case MemoryOp::squared_error:
      return MemoryRate::loss;
    case MemoryOp::adam:
      return MemoryRate::optimizer;
  }
  throw InternalError("a memory-bound kernel without a class");
}

Extent<Bytes> extent_of(const std::vector<Bytes>& sizes) {
  const auto [least, most] = std::ranges::minmax_element(sizes);
  return {*least, *most};
}

std::string size_range(const std::vector<Bytes>& sizes) {
  const Extent<Bytes> range = extent_of(sizes);
  return fmt::format("{} to {}", humanise(range.least).text(), humanise(range.most).text());
}

}  // namespace stepsim
