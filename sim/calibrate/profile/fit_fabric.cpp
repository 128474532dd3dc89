// Collectives over several nodes: what a hop takes, what a NIC carries, and lines for the groups
// that were measured.
#include "sim/calibrate/profile/fit_fabric.hpp"

#include <algorithm>
#include <cmath>

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
        std::min_element(own.begin(), own.end(), [](const fit::Line& a, const fit::Line& b) {
          return a.seconds_per_byte < b.seconds_per_byte;
        })->seconds_per_byte;
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

}  // namespace

FabricFit fit_fabric(const Records& records, const Cluster& base) {
  FabricFit made{.cluster = base};
  std::vector<GroupFit> groups;
  Payload payload;
  std::vector<FabricLine>& measured = made.cluster.inter_node->measured;
  for (const auto& [group, messages] : messages_of(records, true)) {
    const GroupFit fitting(group, messages, base);
    const RegimeLines lines = fitting.lines();
    look_at(fitting, lines, *base.inter_node, payload);
    FamilyReport report = report_of(fitting, lines, messages);
    report.path = "inter_node.measured";
    report.base_errors = fitting.errors(base, sizes_of(messages));
    std::erase_if(measured, [&, of = group](const FabricLine& line) {
      return line.op == of.op && line.nodes == of.nodes && line.ranks == of.ranks &&
             lines.contains({line.algorithm, line.protocol});
    });
    for (const auto& [regime, some] : lines) {
      for (const fit::Line& line : some)
        measured.push_back({line_of(group.ranks, regime, line), group.op, group.nodes});
    }
    made.families.push_back(std::move(report));
    groups.push_back(fitting);
  }
  const std::vector<FabricLine> lines = std::exchange(made.cluster.inter_node->measured, {});
  fit_hop(groups, made);
  fit_payload(payload, made);
  made.cluster.inter_node->measured = lines;
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
  for (const FabricLine& line : fabric.measured)
    text += fmt::format(
        "    - {{op: {}, nodes: {}, ranks: {}, algorithm: {}, protocol: {}, latency: {}, "
        "bandwidth: {}}}\n",
        name_of(line.op), line.nodes, line.ranks, line.algorithm, name_of(line.protocol),
        write_scalar(line.latency), write_scalar(line.bandwidth));
  return text;
}

}  // namespace stepsim
