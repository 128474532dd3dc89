// The links of a network, one after the other: those of nodes, which are alike, those of NICs, which
// are alike, and all others.
//
// A million GPUs have four million links. As long as none is changed they are kept as what repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/core/quantity.hpp"

namespace stepsim {

using LinkId = std::uint32_t;

/// One direction of something that transfers share.
struct Link {
  BytesPerSecond bandwidth;  ///< payload that the link carries
  bool operator==(const Link&) const = default;
};

class Links {
 public:
  std::size_t size() const { return nodes_ * of_node_.size() + nics_ + others_.size(); }
  Link operator[](std::size_t link) const {
    if (!changed_.empty()) return changed_[link];
    const std::size_t inside = nodes_ * of_node_.size();
    if (link < inside) return of_node_[link % of_node_.size()];
    return link < inside + nics_ ? nic_ : others_[link - inside - nics_];
  }
  Link at(std::size_t link) const {
    if (link >= size()) throw std::out_of_range("no such link");
    return (*this)[link];
  }
  bool operator==(const Links&) const = default;

  /// Makes the first links: those of one node, so many times.
  void set_nodes(std::vector<Link> of_node, std::size_t nodes) {
    of_node_ = std::move(of_node);
    nodes_ = nodes;
  }
  /// Makes the links behind those: so many of NICs.
  void set_nics(Link nic, std::size_t count) {
    nic_ = nic;
    nics_ = count;
  }
  void add(Link link) {
    others_.push_back(link);
    if (!changed_.empty()) changed_.push_back(link);
  }
  void change(std::size_t link, Link to) {
    if (changed_.empty()) {
      std::vector<Link> all(size());
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = (*this)[i];
      changed_ = std::move(all);
    }
    changed_[link] = to;
  }

 private:
  std::vector<Link> of_node_;
  std::size_t nodes_ = 0;
  Link nic_;
  std::size_t nics_ = 0;
  std::vector<Link> others_;
  std::vector<Link> changed_;  ///< all links, once one of them is unlike; {}: none is
};

}  // namespace stepsim
