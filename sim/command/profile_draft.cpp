// Sources of fitted constants, in words.
#include "sim/command/profile_draft.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sim/report/humanise.hpp"

namespace stepsim {

std::string Provenance::text(int points) const {
  std::string text = files + " (";
  if (!device.empty()) text += device + ", ";
  if (!date.empty()) text += date + ", ";
  return text + fmt::format("{} point{})", points, points == 1 ? "" : "s");
}

std::string fit_source(const Provenance& provenance, const FamilyReport& report) {
  const int points = report.errors.points;
  return fmt::format("fitted to {}, {} error {}", provenance.text(points),
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

}  // namespace stepsim
