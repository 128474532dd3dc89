// Measured collectives by the group that they ran on: which algorithm and protocol NCCL took at each
// size, and the lines through each regime of those.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/calibrate/fit/collective.hpp"
#include "sim/calibrate/profile/profile_draft.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {

/// A kind of collective among so many GPUs, as many on each of the nodes.
struct CollectiveGroup {
  CollectiveOp op = CollectiveOp::all_reduce;
  int ranks = 0;
  int nodes = 1;
  auto operator<=>(const CollectiveGroup&) const = default;
  /// "all_reduce, 2 x 8 GPUs" of two nodes
  std::string title() const;
};
CollectiveGroup group_of(const CollectivePoint& point);

struct CollectiveRegime {
  std::string algorithm;
  Protocol protocol = Protocol::simple;
  auto operator<=>(const CollectiveRegime&) const = default;
};
inline CollectiveRegime regime_of(const Decision& decision) {
  return {std::string(decision.algorithm->name), decision.protocol};
}
using RegimeLines = std::map<CollectiveRegime, std::vector<fit::Line>>;

/// The fitted points of groups in one node, or of those in several.
std::map<CollectiveGroup, std::vector<fit::Message>> messages_of(const Records& records,
                                                                 bool between_nodes);
std::vector<Bytes> sizes_of(const std::vector<fit::Message>& messages);
/// Every other size, from the second on and of 64 KiB or more, which is kept from a fit that is to
/// be judged by it. None where sizes are few.
std::vector<Bytes> kept_sizes(const std::vector<fit::Message>& messages);

class GroupFit {
 public:
  struct Size {
    fit::Message message;
    Decision decision;  ///< NCCL's, of the release that scenarios have by default
  };

  /// `like` is the kind of machine that they ran on, by which NCCL chose. REQUIRES: a fabric where
  /// the group is on several nodes.
  GroupFit(const CollectiveGroup& group, const std::vector<fit::Message>& messages,
           const Cluster& like);

  const CollectiveGroup& group() const { return group_; }
  const std::vector<Size>& sizes() const { return sizes_; }
  const GroupShape& shape() const { return shape_; }

  /// From those sizes that are not in `without`.
  RegimeLines lines(const std::vector<Bytes>& without = {}) const;
  /// Errors on the sizes in `only`, each by the lines of its own regime; sizes whose regime has no
  /// line are left out.
  fit::Errors errors(const RegimeLines& lines, const std::vector<Bytes>& only) const;
  /// Errors of what such a cluster is simulated to take on an empty network.
  fit::Errors errors(const Cluster& cluster, const std::vector<Bytes>& only) const;

  /// NCCL's own line; a slope of 0 where it has none.
  fit::Line expected(Bytes bytes) const;
  /// Bytes that a NIC sends for each of the message; 0 in one node.
  double nic_bytes(const Decision& decision) const;

 private:
  /// Seconds a byte below which links cannot be.
  double least_of(const Decision& decision) const;
  template <class Model>
  fit::Errors errors_of(const std::vector<Bytes>& only, const Model& model) const;

  CollectiveGroup group_;
  Cluster cluster_;
  GroupShape shape_;
  std::vector<Size> sizes_;
};

CollectiveLine line_of(int ranks, const CollectiveRegime& regime, const fit::Line& line);

/// Errors on every other size, which another fit did not see; on all where they are few.
FamilyReport report_of(const GroupFit& fitting, const RegimeLines& lines,
                       const std::vector<fit::Message>& messages);

}  // namespace stepsim
