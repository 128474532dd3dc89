// Collectives of one node: records to regimes of NCCL, fits to lines of a link profile.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "sim/calibrate/fit/collective.hpp"
#include "sim/calibrate/profile/profile_draft.hpp"
#include "sim/core/error.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/nccl/cost.hpp"

namespace stepsim {
namespace {

using namespace stepsim::literals;

// Judgement, all three.
constexpr Bytes kLeastFitted = 4_KiB;   // below, times are those of the launch
constexpr Bytes kLeastScored = 64_KiB;  // gradients and activations are larger
constexpr Bytes kLarge = 1_MiB;         // PyTorch DDP's first bucket has that, others more

std::vector<CollectiveLine>& lines_in(LinkProfile& link, CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return link.all_reduce;
    case CollectiveOp::all_gather:
      return link.all_gather;
    case CollectiveOp::reduce_scatter:
      return link.reduce_scatter;
    default:
      return link.all_to_all;
  }
}

/// Algorithm and protocol.
struct Choice {
  std::string algorithm;
  Protocol protocol = Protocol::simple;
  auto operator<=>(const Choice&) const = default;
};

/// A kind of collective among so many GPUs.
struct Group {
  CollectiveOp op = CollectiveOp::all_reduce;
  int ranks = 0;
  auto operator<=>(const Group&) const = default;
};

struct Size {
  fit::Message message;
  Choice choice;
};

/// What NCCL does on one node of such GPUs and links.
class Node {
 public:
  Node(const Cluster& like, int ranks) : cluster_(like), shape_{ranks, 1, 0} {
    cluster_.nodes = 1;
    cluster_.gpus_per_node = ranks;
    // A link without lines counts as one that nobody measured, where NCCL's choice is not asked.
    if (!is_measured(cluster_.intra_node)) cluster_.intra_node.all_reduce.emplace_back();
  }

  Choice choice(CollectiveOp op, Bytes bytes) const {
    const Decision decision = decide({op, bytes}, shape_, cluster_, collectives_);
    return {std::string(decision.algorithm->name), decision.protocol};
  }

  /// NCCL's own line; a slope of 0 where it has none.
  fit::Line expected(CollectiveOp op, Bytes bytes) const {
    if (!nccl::is_tuned(op)) return {};
    const auto best =
        nccl::cheapest(communicator_of(shape_, cluster_, collectives_.nccl), op, bytes);
    if (!best) return {};
    return {best->latency, 1 / best->bandwidth.bytes_per_second()};
  }

 private:
  Cluster cluster_;
  GroupShape shape_;
  Collectives collectives_;
};

/// Bytes on the busiest link over those of the message. NVLink SHARP sends each byte once and
/// reduces in the switch (sim/plan/collective/nvls.cpp).
double busiest(const Group& group, const std::string& algorithm) {
  if (algorithm == "nvls") return group.op == CollectiveOp::all_reduce ? 1 + 1.0 / group.ranks : 1;
  return bus_factor(group.op, group.ranks);
}

std::map<Group, std::vector<fit::Message>> messages_of(const Records& records) {
  std::map<Group, std::vector<fit::Message>> groups;
  for_each_point<CollectivePoint>(records, [&](const auto& point, const auto& measured) {
    if (is_fitted(point))
      groups[{point.op, static_cast<int>(point.gpus)}].push_back(
          {Bytes{static_cast<double>(point.bytes)}, Seconds{measured.timing.seconds}});
  });
  return groups;
}

/// Every other size, from the second scored one on, is kept from the fit.
std::vector<Bytes> kept_sizes(const std::vector<fit::Message>& messages) {
  std::vector<Bytes> sizes, kept;
  for (const fit::Message& message : messages) sizes.push_back(message.bytes);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.size() < fit::kFewestToSplit) return kept;
  for (std::size_t i = 1; i < sizes.size(); i += 2)
    if (sizes[i] >= kLeastScored) kept.push_back(sizes[i]);
  return kept;
}

using Lines = std::map<Choice, std::vector<fit::Line>>;

class GroupFit {
 public:
  GroupFit(const Group& group, const std::vector<fit::Message>& messages, const Cluster& node)
      : group_(group), node_(node, group.ranks) {
    rate_ = (node.intra_node.bandwidth * node.intra_node.efficiency).bytes_per_second();
    for (const fit::Message& message : messages)
      sizes_.push_back({message, node_.choice(group.op, message.bytes)});
  }

  /// From those sizes that are not in `without`.
  Lines lines(const std::vector<Bytes>& without = {}) const {
    std::map<Choice, fit::Regime> regimes;
    for (const Size& size : sizes_) {
      const Bytes bytes = size.message.bytes;
      if (std::find(without.begin(), without.end(), bytes) != without.end()) continue;
      fit::Regime& regime = regimes[size.choice];
      regime.least = busiest(group_, size.choice.algorithm) / rate_;
      regime.expected = node_.expected(group_.op, bytes);
      regime.messages.push_back(size.message);
    }
    Lines fitted;
    for (const auto& [choice, regime] : regimes) fitted[choice] = fit::fit_lines(regime);
    return fitted;
  }

  /// Errors on the sizes in `only`, each by the lines of its own regime; sizes whose regime has no
  /// line are left out.
  fit::Errors errors(const Lines& lines, const std::vector<Bytes>& only) const {
    fit::Samples samples;
    std::vector<Seconds> modelled;
    for (const Size& size : sizes_) {
      const Bytes bytes = size.message.bytes;
      const bool wanted = std::find(only.begin(), only.end(), bytes) != only.end();
      const auto found = lines.find(size.choice);
      if (!wanted || found == lines.end()) continue;
      samples.push_back({MemoryBound{bytes}, size.message.seconds, bytes >= kLarge});
      modelled.push_back(fit::time_on(found->second, bytes));
    }
    std::size_t next = 0;
    return fit::errors_of([&](const Work&) { return modelled[next++]; }, samples);
  }

 private:
  Group group_;
  Node node_;
  double rate_ = 0;
  std::vector<Size> sizes_;
};

/// The lines that a link has for that group.
Lines lines_of(const LinkProfile& link, const Group& group) {
  LinkProfile copy = link;
  Lines lines;
  for (const CollectiveLine& line : lines_in(copy, group.op)) {
    if (line.ranks == group.ranks)
      lines[{line.algorithm, line.protocol}].push_back(
          {line.latency, 1 / line.bandwidth.bytes_per_second()});
  }
  return lines;
}

CollectiveLine written(const Group& group, const Choice& choice, const fit::Line& line) {
  return {.ranks = group.ranks,
          .algorithm = choice.algorithm,
          .protocol = choice.protocol,
          .latency = fit::rounded(line.latency, 1e-6),
          .bandwidth = fit::rounded(BytesPerSecond{1 / line.seconds_per_byte}, 1e9)};
}

std::string remark_of(const Lines& lines) {
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

bool is_of_links(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
      return true;
    default:
      return false;
  }
}

bool is_fitted(const CollectivePoint& point) {
  return is_of_links(point.op) && static_cast<double>(point.bytes) >= kLeastFitted.bytes();
}

void fit_collectives(const Records& records, const Cluster& node, LinkDraft& draft) {
  std::map<CollectiveOp, bool> begun;
  for (const auto& [group, messages] : messages_of(records)) {
    std::vector<CollectiveLine>& list = lines_in(draft.profile, group.op);
    if (!std::exchange(begun[group.op], true)) list.clear();
    const GroupFit fitting(group, messages, node);
    const std::vector<Bytes> kept = kept_sizes(messages);
    const Lines lines = fitting.lines();
    FamilyReport report{.family = fmt::format("{}, {} GPUs", name_of(group.op), group.ranks),
                        .path = name_of(group.op),
                        .held_out = !kept.empty()};
    std::vector<Bytes> sizes;
    for (const fit::Message& message : messages) sizes.push_back(message.bytes);
    report.errors =
        kept.empty() ? fitting.errors(lines, sizes) : fitting.errors(fitting.lines(kept), kept);
    report.base_errors = fitting.errors(lines_of(node.intra_node, group), sizes);
    if (report.base_errors->points == 0) report.base_errors.reset();
    report.errors.points = static_cast<int>(messages.size());
    report.range = size_range(sizes);
    report.remark = remark_of(lines);
    for (const auto& [choice, some] : lines) {
      for (const fit::Line& line : some) {
        draft.state(fmt::format("{}[{}]", name_of(group.op), list.size()), id_of(report.family),
                    fit_source(draft.origin, report));
        list.push_back(written(group, choice, line));
      }
    }
    draft.families.push_back(report);
  }
}

}  // namespace stepsim
