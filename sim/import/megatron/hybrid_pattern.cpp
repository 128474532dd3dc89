// Writes hybrid layers out, a letter each.
#include "sim/import/megatron/hybrid_pattern.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim {
namespace {

/// Puts a kind in places of mixers, so many of which come before each.
void spread(std::string& layers, char kind, double mixers_before_each) {
  double left = mixers_before_each;
  for (char& layer : layers) {
    if (layer != 'M') continue;
    if (left < 0.5) {
      layer = kind;
      left += mixers_before_each;
    } else {
      left -= 1;
    }
  }
}

}  // namespace

std::optional<std::string> layers_of_pattern(std::string_view pattern) {
  std::string layers(pattern.substr(0, pattern.find('/')));
  std::erase(layers, '|');
  if (layers.empty() || layers.find_first_not_of("MG*-E") != std::string::npos) return std::nullopt;
  return layers;
}

std::optional<PatternDepths> depths_of_pattern(std::string_view pattern) {
  PatternDepths depths;
  for (std::size_t at = pattern.find('/'); at != std::string_view::npos;) {
    const std::size_t end = pattern.find('/', at + 1);
    const std::string_view depth = pattern.substr(at + 1, end == pattern.npos ? end : end - at - 1);
    at = end;
    if (depth.empty() && depths.count == 0 && end == std::string_view::npos) return depths;
    if (depth.empty() || depth.find_first_not_of("MG*-E") != std::string_view::npos ||
        (depths.count > 0 && depth != depths.letters))
      return std::nullopt;
    depths.letters = depth;
    ++depths.count;
  }
  return depths;
}

std::string layers_of_shares(std::int64_t layers, double attention, double mlp) {
  const auto all = static_cast<double>(layers);
  const double attentions = std::nearbyint(all * attention), mlps = std::nearbyint(all * mlp);
  const double mixers = all - attentions;
  std::string kinds(static_cast<std::size_t>(layers), 'M');
  spread(kinds, '*', mixers / (attentions + 1));
  if (mlps > 0) spread(kinds, '-', (mixers - mlps) / mlps);
  return kinds;
}

}  // namespace stepsim
