// Each regime of sizes gets one line, or two.
#include "sim/calibrate/fit/collective.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::fit {
namespace {

constexpr double kMostLeft = 0.6;  // judgement: of the error, for a second line to be worth it

double error_of(const std::vector<Line>& lines, const std::vector<Message>& messages) {
  double sum = 0;
  for (const Message& message : messages) {
    const double off = time_on(lines, message.bytes) / message.seconds - 1;
    sum += off * off;
  }
  return std::sqrt(sum / static_cast<double>(messages.size()));
}

std::vector<Bytes> sizes_of(const std::vector<Message>& messages) {
  std::vector<Bytes> sizes;
  for (const Message& message : messages) sizes.push_back(message.bytes);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// NCCL's own formula, times what was measured over what it expects.
Line scaled(const Regime& regime) {
  double ratio = 0;
  for (const Message& message : regime.messages)
    ratio += message.seconds / regime.expected.time(message.bytes);
  ratio /= static_cast<double>(regime.messages.size());
  return {.latency = regime.expected.latency * ratio,
          .seconds_per_byte = std::max(regime.expected.seconds_per_byte * ratio, regime.least)};
}

/// Below `cut` the one, from there on the other; none unless larger messages are the faster ones.
std::vector<Line> two_lines(const Regime& regime, Bytes cut) {
  std::vector<Message> below, above;
  for (const Message& message : regime.messages)
    (message.bytes < cut ? below : above).push_back(message);
  const Line low = line_through(below, regime.least), high = line_through(above, regime.least);
  const bool concave = high.seconds_per_byte < low.seconds_per_byte && high.latency > low.latency &&
                       low.latency > Seconds{};
  if (!concave) return {};
  return {low, high};
}

}  // namespace

Seconds time_on(const std::vector<Line>& lines, Bytes bytes) {
  Seconds least = lines.front().time(bytes);
  for (const Line& line : lines) least = std::min(least, line.time(bytes));
  return least;
}

std::vector<Line> fit_lines(const Regime& regime) {
  const std::vector<Bytes> sizes = sizes_of(regime.messages);
  if (sizes.size() == 1 && regime.expected.seconds_per_byte > 0) return {scaled(regime)};
  std::vector<Line> best{line_through(regime.messages, regime.least)};
  double least = kMostLeft * error_of(best, regime.messages);
  for (std::size_t i = 2; i + 1 < sizes.size(); ++i) {
    const std::vector<Line> two = two_lines(regime, sizes[i]);
    if (two.empty() || error_of(two, regime.messages) >= least) continue;
    best = two;
    least = error_of(two, regime.messages);
  }
  return best;
}

}  // namespace stepsim::fit
