// Finds scales, round values, and labels that do not touch.
#include "sim/report/picture/plot_axis.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/text/layout.hpp"

namespace stepsim {
namespace {

constexpr double kLogAlong = 20;   ///< a wider range of an axis is logarithmic
constexpr double kLogResults = 8;  ///< a wider range of results is
constexpr double kFromZero = 0.4;  ///< with less than this of the most, an axis begins at 0
constexpr double kLeastSpan =
    0.05;  ///< share of the most: differences of 0.1 % shall not look large
/// shares of the span left free beside the best, and beside the worst value
constexpr double kRoom = 0.18, kMargin = 0.05;
constexpr double kRounding = 1e-9;
constexpr int kSteps = 5;    ///< about so many round values on an axis
constexpr double kGap = 10;  ///< pixels between labels
/// digits of a label that a larger stride has to save, for it leaves labels out
constexpr double kFewerDigits = 0.7;
constexpr std::size_t kEnough = 4;  ///< with so many round labels, no other ones stand between them
constexpr std::size_t kLastRound = 3;  ///< the rank of 3, 4, 6 ... times a power of ten
/// Width of a letter of 13 pixels; digits of DejaVu Sans, a wide face, have 0.636 of their size.
constexpr double kLetter = 0.6 * 13;

bool is_geometric(const std::vector<double>& values) {
  if (values.size() < 3 || values[0] <= 0 || values[1] <= values[0]) return false;
  const double factor = values[1] / values[0];
  for (std::size_t i = 2; i < values.size(); ++i)
    if (std::abs(values[i] / values[i - 1] / factor - 1) > kRounding) return false;
  return true;
}

/// The least of 1, 2, 5, 10, 20 ... that is not below `least`.
double round_step(double least) {
  const double decade = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= least * (1 - kRounding)) return factor * decade;
  return 10 * decade;
}

double step_of(const PlotScale& scale, double unit) {
  return round_step((scale.high - scale.low) / unit / kSteps) * unit;
}

/// The digits of a text's number without zeros at its ends: one of "100 MiB".
std::size_t digits_of(const std::string& text) {
  std::string digits;
  for (const char c : text) {
    if (c >= '0' && c <= '9')
      digits += c;
    else if (c != '.' && c != '-')
      break;
  }
  const std::size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? 0 : digits.find_last_not_of('0') + 1 - first;
}

bool stand_apart(const PlotLabel& a, const PlotLabel& b) {
  return std::abs(a.at - b.at) >= (a.width + b.width) / 2 + kGap;
}

std::vector<std::size_t> every(std::size_t stride, std::size_t first, std::size_t size) {
  std::vector<std::size_t> places;
  for (std::size_t i = first; i < size; i += stride) places.push_back(i);
  return places;
}

bool all_apart(const std::vector<PlotLabel>& labels, const std::vector<std::size_t>& places) {
  for (std::size_t i = 1; i < places.size(); ++i)
    if (!stand_apart(labels[places[i - 1]], labels[places[i]])) return false;
  return true;
}

bool equally_spaced(const std::vector<PlotLabel>& labels) {
  const double mean =
      (labels.back().at - labels.front().at) / static_cast<double>(labels.size() - 1);
  for (std::size_t i = 1; i < labels.size(); ++i)
    if (std::abs(labels[i].at - labels[i - 1].at - mean) > 0.01 * std::abs(mean)) return false;
  return true;
}

double number_in(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// The mean digits of a label; less where the labels are those that one would count: 20, 40, 60,
/// not 10, 30, 50.
double roughness(const std::vector<PlotLabel>& labels, const std::vector<std::size_t>& places) {
  double digits = 0;
  bool counted = places.size() > 1;
  for (std::size_t i = 0; i < places.size(); ++i) {
    digits += static_cast<double>(digits_of(labels[places[i]].text));
    if (!counted) continue;
    const double first = number_in(labels[places[0]].text);
    const double step = number_in(labels[places[1]].text) - first;
    const double times = number_in(labels[places[i]].text) / step;
    counted = step > 0 && std::abs(times - std::round(times)) < kRounding;
  }
  return digits / static_cast<double>(places.size()) - (counted ? 1 : 0);
}

/// The stride after `stride` in 2, 3, 4, 5, 10, 20, 30 ...
double next_stride(double stride) {
  const double decade = std::pow(10, std::floor(std::log10(stride)));
  return stride < 5 * decade ? stride + decade : 10 * decade;
}

/// The places of every second, third, tenth, twentieth ... label: the least stride that fits, or
/// the next one where its numbers are clearly rounder.
std::vector<std::size_t> every_few(const std::vector<PlotLabel>& labels) {
  std::vector<std::size_t> best;
  double least = 1e9;
  int fitting = 0;
  for (double step = 2; fitting < 2; step = next_stride(step)) {
    const auto stride = static_cast<std::size_t>(step);
    if (stride >= labels.size() && !best.empty()) break;
    const double limit = least - kFewerDigits;  // digits that a larger stride has to come below
    bool fits = false;
    for (std::size_t first = 0; first < std::min(stride, labels.size()); ++first) {
      auto places = every(stride, first, labels.size());
      if (!all_apart(labels, places)) continue;
      fits = true;
      const double rough = roughness(labels, places);
      if (rough > least - kRounding || rough > limit) continue;
      least = rough;
      best = std::move(places);
    }
    fitting += fits ? 1 : 0;
  }
  return best;
}

/// The rank of a label: powers of ten first, then 5 and 2 times those, then labels with few digits.
std::size_t rank_of(const std::string& text) {
  const std::size_t digits = digits_of(text), lead = text.find_first_of("123456789");
  if (digits != 1) return 2 + digits;
  if (text[lead] == '1') return 0;
  return text[lead] == '5' ? 1 : text[lead] == '2' ? 2 : 3;
}

std::vector<std::size_t> round_first(const std::vector<PlotLabel>& labels) {
  std::vector<std::size_t> order(labels.size()), chosen;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return rank_of(labels[a].text) < rank_of(labels[b].text);
  });
  for (const std::size_t place : order) {
    const auto apart = [&](std::size_t other) { return stand_apart(labels[place], labels[other]); };
    if (chosen.size() >= kEnough && rank_of(labels[place].text) > kLastRound) break;
    if (std::ranges::all_of(chosen, apart)) chosen.push_back(place);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace

double PlotScale::at(double value) const {
  if (high == low) return (begin + end) / 2;
  const double part =
      is_log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return begin + part * (end - begin);
}

PlotScale scale_along(const std::vector<double>& values, double begin, double end) {
  const double low = values.front(), high = values.back();
  const bool is_log = low > 0 && high > low && (high > kLogAlong * low || is_geometric(values));
  return {low, high, begin, end, is_log};
}

PlotScale scale_of_results(const std::vector<double>& values, double unit, bool is_less_better,
                           double begin, double end) {
  const auto [least, most] = std::ranges::minmax_element(values);
  const double below = is_less_better ? kRoom : kMargin, above = is_less_better ? kMargin : kRoom;
  PlotScale scale{*least, *most, begin, end, *most > kLogResults * *least};
  if (scale.is_log) {
    const double ratio = *most / *least;
    scale.low /= std::pow(ratio, below);
    scale.high *= std::pow(ratio, above);
    return scale;
  }
  const double span = std::max(*most - *least, kLeastSpan * *most);
  scale.low -= (span - (*most - *least)) / 2 + below * span;
  scale.high += (span - (*most - *least)) / 2 + above * span;
  if (*least < kFromZero * *most || scale.low < 0) scale.low = 0;
  const double step = step_of(scale, unit);
  scale.low = std::floor(scale.low / step + kRounding) * step;
  scale.high = std::ceil(scale.high / step - kRounding) * step;
  return scale;
}

std::vector<double> round_values(const PlotScale& scale, double unit) {
  std::vector<double> values;
  const double low = scale.low * (1 - kRounding), high = scale.high * (1 + kRounding);
  if (!scale.is_log) {
    const double step = step_of(scale, unit);
    for (double i = std::ceil(scale.low / step - kRounding); i * step <= high; ++i)
      values.push_back(i * step + 0.0);  // turns -0 into 0
    return values;
  }
  const double decades = std::log10(scale.high / scale.low);
  const std::vector<double> factors =
      decades > 3 ? std::vector<double>{1} : std::vector<double>{1, 2, 5};
  for (double decade = std::floor(std::log10(low / unit)); std::pow(10, decade) * unit <= high;
       ++decade)
    for (const double factor : factors) {
      const double value = factor * std::pow(10, decade) * unit;
      if (value >= low && value <= high) values.push_back(value);
    }
  return values;
}

double text_width(const std::string& text) { return kLetter * width_of(text); }

std::string shortened(const std::string& text, std::size_t most) {
  if (static_cast<std::size_t>(width_of(text)) <= most) return text;
  std::size_t end = 0, characters = 0;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (end < text.size() && characters + 3 < most) {
    ++end, ++characters;
    while (end < text.size() && continues(end)) ++end;
  }
  return text.substr(0, end) + "...";
}

std::vector<std::size_t> readable(const std::vector<PlotLabel>& labels) {
  auto all = every(1, 0, labels.size());
  if (all_apart(labels, all)) return all;
  return equally_spaced(labels) ? every_few(labels) : round_first(labels);
}

}  // namespace stepsim
