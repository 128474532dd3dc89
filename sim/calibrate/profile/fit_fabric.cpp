// Collectives over several nodes: what a hop takes, what a NIC carries, and curves of the groups
// that were measured.
#include "sim/calibrate/profile/fit_fabric.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "sim/calibrate/profile/collective_groups.hpp"
#include "sim/plan/nccl/constants.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

using namespace stepsim::literals;

// Judgement, both: what takes a hop's time, and what fills a NIC.
constexpr Bytes kSmall = 64_KiB, kFills = 64_MiB;
constexpr double kShortestHop = 1e-7, kLongestHop = 1e-2;  // seconds; between them lie all networks

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Simulated over measured, of small messages, in the middle.
double pace(const std::vector<GroupFit>& groups, Cluster cluster, double hop) {
  cluster.inter_node->latency = Seconds{hop};
  std::vector<double> ratios;
  for (const GroupFit& fitting : groups) {
    cluster.nodes = fitting.group().nodes;
    for (const GroupFit::Size& size : fitting.sizes()) {
      if (size.message.bytes > kSmall) continue;
      const Phases phases = phases_of(size.decision, {fitting.group().op, size.message.bytes},
                                      fitting.shape(), cluster, {});
      ratios.push_back(uncontended(phases) / size.message.seconds);
    }
  }
  return ratios.empty() ? 1 : median(ratios);
}

/// The hop with which small messages take as long as measured; more hops of time are never less.
Seconds hop_of(const std::vector<GroupFit>& groups, const Cluster& base) {
  double low = kShortestHop, high = kLongestHop;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (pace(groups, base, middle) < 1 ? low : high) = middle;
  }
  return fit::rounded(Seconds{std::sqrt(low * high)}, 1e-6);
}

template <class Which>
int messages_that(const std::vector<GroupFit>& groups, const Which& which) {
  int count = 0;
  for (const GroupFit& fitting : groups)
    for (const GroupFit::Size& size : fitting.sizes()) count += which(size.message.bytes) ? 1 : 0;
  return count;
}

/// What large messages show of a NIC.
struct Payload {
  double most = 0;         ///< of its bandwidth, in any regime
  double most_filled = 0;  ///< where nothing but the NIC is expected to limit
};

void look_at(const GroupFit& fitting, const RegimeLines& lines, const Fabric& base,
             Payload& payload) {
  const double nic = base.bandwidth.bytes_per_second();
  for (const GroupFit::Size& size : fitting.sizes()) {
    if (size.message.bytes < kFills) continue;
    const double carried = fitting.nic_bytes(size.decision);
    const std::vector<fit::Line>& own = lines.at(regime_of(size.decision));
    const double slope =
        std::ranges::min_element(own, {}, &fit::Line::seconds_per_byte)->seconds_per_byte;
    const double share = carried / slope / nic;
    payload.most = std::max(payload.most, share);
    const double expected = fitting.expected(size.message.bytes).seconds_per_byte;
    if (expected == 0 || carried / expected >= base.efficiency * nic)
      payload.most_filled = std::max(payload.most_filled, share);
  }
}

void fit_payload(const Payload& payload, FabricFit& made) {
  double& efficiency = made.cluster.inter_node->efficiency;
  const double base = efficiency;
  if (payload.most_filled > 0) {
    efficiency = std::min(1.0, fit::rounded(payload.most_filled));
    made.efficiency_from = "the most that messages of 64 MiB and more which fill a NIC have of it";
  } else if (payload.most > base) {
    efficiency = std::min(1.0, fit::rounded(payload.most));
    made.efficiency_from = "the most that a message of 64 MiB and more has of a NIC";
  } else {
    made.efficiency_from =
        payload.most > 0
            ? fmt::format("as the base: no message fills a NIC, the fullest has {:.2f} of it",
                          payload.most)
            : "as the base: nothing of 64 MiB and more was measured";
  }
}

void fit_hop(const std::vector<GroupFit>& groups, FabricFit& made) {
  if (messages_that(groups, [](Bytes bytes) { return bytes <= kSmall; }) == 0) {
    made.latency_from = "as the base: nothing of up to 64 KiB was measured";
    return;
  }
  made.latency_from = "with it messages of 4 to 64 KiB take as long as measured, in the middle";
  made.cluster.inter_node->latency = hop_of(groups, made.cluster);
}

FamilyReport constant(const std::string& name, const std::string& value, const std::string& from,
                      int points) {
  return {.family = name,
          .path = "inter_node." + name,
          .errors = {.points = points},
          .held_out = false,
          .fitted = points > 0,
          .remark = fmt::format("{}: {}", value, from)};
}

/// The mean time of each size, without those in `without`.
FabricCurve curve_through(const CollectiveGroup& group, const std::vector<fit::Message>& messages,
                          const std::vector<Bytes>& without = {}) {
  std::map<Bytes, std::vector<Seconds>> times;
  for (const fit::Message& message : messages) {
    if (std::find(without.begin(), without.end(), message.bytes) == without.end())
      times[message.bytes].push_back(message.seconds);
  }
  FabricCurve curve{.op = group.op, .nodes = group.nodes, .ranks = group.ranks};
  for (const auto& [bytes, some] : times) {
    const Seconds sum = std::accumulate(some.begin(), some.end(), Seconds{});
    curve.sizes.push_back({bytes, fit::rounded(sum / static_cast<double>(some.size()), 1e-6)});
  }
  return curve;
}

/// Errors on sizes that are kept from the curve; where sizes are few, there are none to keep.
FamilyReport report_of(const GroupFit& fitting, const std::vector<fit::Message>& messages,
                       Cluster base) {
  const std::vector<Bytes> kept = kept_sizes(messages), sizes = sizes_of(messages);
  FamilyReport report{
      .family = fitting.group().title(), .path = "inter_node.measured", .held_out = !kept.empty()};
  report.base_errors = fitting.errors(base, sizes);
  base.inter_node->measured = {curve_through(fitting.group(), messages, kept)};
  report.errors = fitting.errors(base, kept.empty() ? sizes : kept);
  report.errors.points = static_cast<int>(messages.size());
  report.range = size_range(sizes);
  report.remark = "a curve through the sizes";
  return report;
}

/// The curves of the base, other than of the groups that were measured, and theirs.
std::vector<FabricCurve> curves_of(const std::vector<GroupFit>& groups, const Cluster& base) {
  std::vector<FabricCurve> curves = base.inter_node->measured;
  for (const GroupFit& fitting : groups) {
    std::vector<fit::Message> messages;
    for (const GroupFit::Size& size : fitting.sizes()) messages.push_back(size.message);
    const FabricCurve mine = curve_through(fitting.group(), messages);
    std::erase_if(curves, [&](const FabricCurve& other) {
      return other.op == mine.op && other.nodes == mine.nodes && other.ranks == mine.ranks;
    });
    curves.push_back(mine);
  }
  return curves;
}

}  // namespace

FabricFit fit_fabric(const Records& records, const Cluster& base) {
  FabricFit made{.cluster = base};
  std::vector<GroupFit> groups;
  Payload payload;
  for (const auto& [group, messages] : messages_of(records, true)) {
    const GroupFit fitting(group, messages, base);
    look_at(fitting, fitting.lines(), *base.inter_node, payload);
    made.families.push_back(report_of(fitting, messages, base));
    groups.push_back(fitting);
  }
  made.cluster.inter_node->measured.clear();
  fit_hop(groups, made);
  fit_payload(payload, made);
  made.cluster.inter_node->measured = curves_of(groups, base);
  const Fabric& fabric = *made.cluster.inter_node;
  made.families.push_back(
      constant("latency", write_scalar(fabric.latency) + " a hop", made.latency_from,
               messages_that(groups, [](Bytes bytes) { return bytes <= kSmall; })));
  made.families.push_back(
      constant("efficiency", write_scalar(fabric.efficiency), made.efficiency_from,
               messages_that(groups, [](Bytes bytes) { return bytes >= kFills; })));
  return made;
}

std::string fabric_text(const FabricFit& fit, const std::string& base,
                        const ProfileOrigin& origin) {
  const Fabric& fabric = *fit.cluster.inter_node;
  std::string text = fmt::format(
      "# {} with a fabric by stepsim calibrate fit; what was not measured is as there.\n"
      "base: {}\ninter_node:\n  # {}\n  latency: {}\n  # {}\n  efficiency: {}\n"
      "  measured:\n",
      base, base, fit.latency_from, write_scalar(fabric.latency), fit.efficiency_from,
      write_scalar(fabric.efficiency));
  for (const FamilyReport& family : fit.families) {
    if (family.range.empty()) continue;
    text += fmt::format("    # {}: {}\n", family.family, fit_source(origin, family));
  }
  for (const FabricCurve& curve : fabric.measured) {
    text += fmt::format("    - op: {}\n      nodes: {}\n      ranks: {}\n      sizes:\n",
                        name_of(curve.op), curve.nodes, curve.ranks);
    for (const MeasuredSize& size : curve.sizes)
      text += fmt::format("        - {{bytes: {}, time: {}}}\n", write_scalar(size.bytes),
                          write_scalar(size.time));
  }
  return text;
}

}  // namespace stepsim
