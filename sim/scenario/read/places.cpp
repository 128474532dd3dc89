// Keys that were read here, and those of parts that many scenarios share.
#include "sim/scenario/read/places.hpp"

#include <algorithm>

namespace stepsim {
namespace {

constexpr auto kPath = [](const PlacesOfPart::value_type& one) -> std::string_view {
  return one.first;
};

}  // namespace

const Place* Places::find(std::string_view path) const {
  if (const auto own = own_.find(path); own != own_.end()) return &own->second;
  for (const auto& part : parts_) {
    const auto one = std::ranges::lower_bound(*part, path, {}, kPath);
    if (one != part->end() && one->first == path) return &one->second;
  }
  return nullptr;
}

Place Places::at(std::string_view path) const {
  const Place* place = find(path);
  return place != nullptr ? *place : Place{};
}

void Places::set(std::string path, const Place& place) {
  own_.insert_or_assign(std::move(path), place);
}

PlacesOfPart Places::beginning_with(std::string_view start) const {
  PlacesOfPart found;
  const auto add = [&](const auto& one) {
    if (one.first.starts_with(start)) found.emplace_back(one.first, one.second);
  };
  for (const auto& part : parts_) std::ranges::for_each(*part, add);
  std::ranges::for_each(own_, add);
  std::ranges::sort(found, {}, kPath);
  return found;
}

}  // namespace stepsim
