// Groups of GPUs, and what NCCL runs on them at each size.
#include "sim/calibrate/profile/collective_groups.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/plan/nccl/cost.hpp"

namespace stepsim {

std::vector<Bytes> sizes_of(const std::vector<fit::Message>& messages) {
  std::vector<Bytes> sizes;
  for (const fit::Message& message : messages) sizes.push_back(message.bytes);
  return sizes;
}

namespace {

using namespace stepsim::literals;

// Judgement, both.
constexpr Bytes kLeastScored = 64_KiB;  // gradients and activations are larger
constexpr Bytes kLarge = 1_MiB;         // PyTorch DDP's first bucket has that, others more

/// Bytes on the busiest link over those of the message. NVLink SHARP sends each byte once and
/// reduces in the switch (sim/plan/collective/nvls.cpp).
double busiest(const CollectiveGroup& group, const std::string& algorithm) {
  if (algorithm == "nvls") return group.op == CollectiveOp::all_reduce ? 1 + 1.0 / group.ranks : 1;
  return bus_factor(group.op, group.ranks);
}

bool is_in(const std::vector<Bytes>& sizes, Bytes bytes) {
  return std::ranges::find(sizes, bytes) != sizes.end();
}

GroupShape shape_of(const CollectiveGroup& group, const Cluster& like) {
  if (group.nodes == 1) return {group.ranks, 1, 0};
  // Groups of fewer GPUs of a node have the NICs of those.
  const int each = group.ranks / group.nodes;
  return {group.ranks, group.nodes,
          std::max(1, like.inter_node->nics_per_node * each / like.gpus_per_node)};
}

std::string remark_of(const RegimeLines& lines) {
  std::string text;
  for (const auto& [choice, some] : lines) {
    for (const fit::Line& line : some) {
      text += fmt::format("{}{} {} {:.3g} us + S / {:.4g} GB/s", text.empty() ? "" : "; ",
                          choice.algorithm, nccl::name_of(choice.protocol),
                          line.latency.microseconds(), 1e-9 / line.seconds_per_byte);
      if (line.r_squared) text += fmt::format(", R2 {:.3f}", *line.r_squared);
    }
  }
  return text;
}

}  // namespace

std::vector<Bytes> kept_sizes(const std::vector<fit::Message>& messages) {
  std::vector<Bytes> sizes = sizes_of(messages), kept;
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.size() < fit::kFewestToSplit) return kept;
  for (std::size_t i = 1; i < sizes.size(); i += 2)
    if (sizes[i] >= kLeastScored) kept.push_back(sizes[i]);
  return kept;
}

std::string CollectiveGroup::title() const {
  if (nodes == 1) return fmt::format("{}, {} GPUs", name_of(op), ranks);
  return fmt::format("{}, {} x {} GPUs", name_of(op), nodes, ranks / nodes);
}

std::map<CollectiveGroup, std::vector<fit::Message>> messages_of(const Records& records,
                                                                 bool between_nodes) {
  std::map<CollectiveGroup, std::vector<fit::Message>> groups;
  for_each_point<CollectivePoint>(records, [&](const auto& point, const auto& measured) {
    if (!is_fitted(point) || point.is_between_nodes() != between_nodes) return;
    groups[group_of(point)].push_back(
        {Bytes{static_cast<double>(point.bytes)}, Seconds{measured.timing.seconds}});
  });
  return groups;
}

CollectiveGroup group_of(const CollectivePoint& point) {
  return {point.op, static_cast<int>(point.gpus), std::max(1, static_cast<int>(point.nodes))};
}

GroupFit::GroupFit(const CollectiveGroup& group, const std::vector<fit::Message>& messages,
                   const Cluster& like)
    : group_(group), cluster_(like), shape_(shape_of(group, like)) {
  cluster_.nodes = group.nodes;
  if (group.nodes == 1) cluster_.gpus_per_node = group.ranks;
  // A link without lines counts as one that nobody measured, where NCCL's choice is not asked.
  if (!is_measured(cluster_.intra_node)) cluster_.intra_node.all_reduce.emplace_back();
  for (const fit::Message& message : messages)
    sizes_.push_back({message, decide({group.op, message.bytes}, shape_, cluster_, {})});
}

fit::Line GroupFit::expected(Bytes bytes) const {
  if (!nccl::is_tuned(group_.op)) return {};
  const auto best =
      nccl::cheapest(communicator_of(shape_, cluster_, Collectives{}.nccl), group_.op, bytes);
  if (!best) return {};
  return {best->latency, 1 / best->bandwidth.bytes_per_second()};
}

double GroupFit::nic_bytes(const Decision& decision) const {
  constexpr Bytes kMessage = 1_MiB;
  for (const Phase& phase : phases_of(decision, {group_.op, kMessage}, shape_, cluster_, {})) {
    for (const PhaseFlow& flow : phase.flows)
      if (flow.pattern == Pattern::between || flow.pattern == Pattern::pairs_between)
        return flow.bytes / kMessage;
  }
  return 0;
}

double GroupFit::least_of(const Decision& decision) const {
  if (group_.nodes > 1)
    return nic_bytes(decision) / cluster_.inter_node->bandwidth.bytes_per_second();
  const LinkProfile& link = cluster_.intra_node;
  return busiest(group_, std::string(decision.algorithm->name)) /
         (link.bandwidth * link.efficiency).bytes_per_second();
}

RegimeLines GroupFit::lines(const std::vector<Bytes>& without) const {
  std::map<CollectiveRegime, fit::Regime> regimes;
  for (const Size& size : sizes_) {
    if (is_in(without, size.message.bytes)) continue;
    fit::Regime& regime = regimes[regime_of(size.decision)];
    regime.least = least_of(size.decision);
    regime.expected = expected(size.message.bytes);
    regime.messages.push_back(size.message);
  }
  RegimeLines fitted;
  for (const auto& [choice, regime] : regimes) fitted[choice] = fit::fit_lines(regime);
  return fitted;
}

fit::Errors GroupFit::errors(const RegimeLines& lines, const std::vector<Bytes>& only) const {
  return errors_of(only, [&](const Size& size) -> std::optional<Seconds> {
    const auto found = lines.find(regime_of(size.decision));
    if (found == lines.end()) return {};
    return fit::time_on(found->second, size.message.bytes);
  });
}

fit::Errors GroupFit::errors(const Cluster& cluster, const std::vector<Bytes>& only) const {
  Cluster here = cluster;
  here.nodes = group_.nodes;
  return errors_of(only, [&](const Size& size) -> std::optional<Seconds> {
    return uncontended(phases_of(size.decision, {group_.op, size.message.bytes}, shape_, here, {}));
  });
}

template <class Model>
fit::Errors GroupFit::errors_of(const std::vector<Bytes>& only, const Model& model) const {
  fit::Samples samples;
  std::vector<Seconds> modelled;
  for (const Size& size : sizes_) {
    const Bytes bytes = size.message.bytes;
    const std::optional<Seconds> time = is_in(only, bytes) ? model(size) : std::nullopt;
    if (!time) continue;
    samples.push_back({MemoryBound{bytes}, size.message.seconds, bytes >= kLarge});
    modelled.push_back(*time);
  }
  std::size_t next = 0;
  return fit::errors_of([&](const Work&) { return modelled[next++]; }, samples);
}

CollectiveLine line_of(int ranks, const CollectiveRegime& regime, const fit::Line& line) {
  return {.ranks = ranks,
          .algorithm = regime.algorithm,
          .protocol = regime.protocol,
          .latency = fit::rounded(line.latency, 1e-6),
          .bandwidth = fit::rounded(BytesPerSecond{1 / line.seconds_per_byte}, 1e9)};
}

FamilyReport report_of(const GroupFit& fitting, const RegimeLines& lines,
                       const std::vector<fit::Message>& messages) {
  const std::vector<Bytes> kept = kept_sizes(messages), sizes = sizes_of(messages);
  FamilyReport report{.family = fitting.group().title(),
                      .path = name_of(fitting.group().op),
                      .held_out = !kept.empty()};
  report.errors =
      kept.empty() ? fitting.errors(lines, sizes) : fitting.errors(fitting.lines(kept), kept);
  report.errors.points = static_cast<int>(messages.size());
  report.range = size_range(sizes);
  report.remark = remark_of(lines);
  return report;
}

bool is_fitted(const CollectivePoint& point) {
  constexpr Bytes kLeastFitted = 4_KiB;  // judgement: below, times are those of the launch
  return stated_collective(point.op) != nullptr &&
         static_cast<double>(point.bytes) >= kLeastFitted.bytes();
}

}  // namespace stepsim
