// The line of least squares of relative errors through messages, in closed form.
#include "sim/calibrate/fit/line.hpp"

#include <algorithm>
#include <set>

namespace stepsim::fit {
namespace {

/// Sums over the messages, each weighted by 1/t^2.
struct Moments {
  double w = 0, ws = 0, wss = 0, wt = 0, wst = 0;

  explicit Moments(const std::vector<Message>& messages) {
    for (const Message& message : messages) {
      const double t = message.seconds.seconds(), s = message.bytes.bytes(), weight = 1 / (t * t);
      w += weight;
      ws += weight * s;
      wss += weight * s * s;
      wt += weight * t;
      wst += weight * s * t;
    }
  }
  double determinant() const { return w * wss - ws * ws; }
  double slope() const { return (w * wst - ws * wt) / determinant(); }
};

std::optional<double> r_squared_of(const Line& line, const std::vector<Message>& messages,
                                   double mean) {
  std::set<Bytes> sizes;
  for (const Message& message : messages) sizes.insert(message.bytes);
  if (sizes.size() < 3) return {};
  double residual = 0, variance = 0;
  for (const Message& message : messages) {
    const double t = message.seconds.seconds();
    const double off = line.time(message.bytes).seconds() / t - 1, spread = mean / t - 1;
    residual += off * off;
    variance += spread * spread;
  }
  return variance > 0 ? 1 - residual / variance : 1;
}

}  // namespace

Line line_through(const std::vector<Message>& messages, double least) {
  const Moments m(messages);
  Line line;
  line.seconds_per_byte = m.determinant() > 1e-9 * m.w * m.wss ? m.slope() : least;
  line.seconds_per_byte = std::max(line.seconds_per_byte, least);
  const double latency = (m.wt - line.seconds_per_byte * m.ws) / m.w;
  line.latency = Seconds{latency};
  if (latency < 0) {
    line.latency = Seconds{};
    line.seconds_per_byte = std::max(m.wst / m.wss, least);
  }
  line.r_squared = r_squared_of(line, messages, m.wt / m.w);
  return line;
}

}  // namespace stepsim::fit
