// Progressive filling, part by part of the network.
#include "sim/engine/sharing.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim {
namespace {

// Parts of a bandwidth in which demands are counted: rounding one up adds less than 1e-9 of it.
constexpr double kParts = 0x1p32;

struct IsHigher {
  template <typename Level>
  bool operator()(const Level& a, const Level& b) const {
    return a.rate > b.rate;
  }
};

}  // namespace

Sharing::Sharing(const std::vector<BytesPerSecond>& links) {
  links_.reserve(links.size());
  for (const BytesPerSecond bandwidth : links) {
    Link& link = links_.emplace_back();
    link.bandwidth = link.capacity = bandwidth.bytes_per_second();
    link.limit = static_cast<std::uint64_t>(kParts);
  }
}

std::uint64_t Sharing::parts(const Link& link, const Transfer& transfer, Crossing crossing) {
  const double one = std::min(transfer.most / link.bandwidth, 1.0);
  return static_cast<std::uint64_t>(std::ceil(one * kParts)) * crossing.times;
}

void Sharing::touch(LinkId link) {
  if (links_[link].is_dirty) return;
  links_[link].is_dirty = true;
  dirty_.push_back(link);
}

Sharing::Id Sharing::add(const std::vector<Crossing>& crossings, double most) {
  Id id;
  if (free_.empty()) {
    id = static_cast<Id>(transfers_.size());
    transfers_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Transfer& transfer = transfers_[id];
  transfer.crossings = &crossings;
  transfer.most = most;
  transfer.rate = 0;
  transfer.has_met = false;
  transfer.places.resize(crossings.size());
  for (std::uint32_t i = 0; i < crossings.size(); ++i) {
    Link& link = links_[crossings[i].link];
    link.wanted += parts(link, transfer, crossings[i]);
    transfer.places[i] = static_cast<std::uint32_t>(link.members.size());
    link.members.push_back({id, i});
    if (could_be_full(link)) touch(crossings[i].link);
  }
  new_.push_back(id);
  return id;
}

void Sharing::remove(Id id) {
  Transfer& transfer = transfers_[id];
  for (std::uint32_t i = 0; i < transfer.crossings->size(); ++i) {
    const Crossing crossing = (*transfer.crossings)[i];
    Link& link = links_[crossing.link];
    if (could_be_full(link)) touch(crossing.link);
    link.wanted -= parts(link, transfer, crossing);
    const Member last = link.members.back();
    link.members[transfer.places[i]] = last;
    transfers_[last.transfer].places[last.crossing] = transfer.places[i];
    link.members.pop_back();
  }
  transfer.crossings = nullptr;
  free_.push_back(id);
}

void Sharing::set_capacity(LinkId id, double share) {
  Link& link = links_[id];
  touch(id);
  link.capacity = link.bandwidth * share;
  link.limit = static_cast<std::uint64_t>(kParts * share);
}

const std::vector<Sharing::Id>& Sharing::share() {
  changed_.clear();
  ++mark_;
  for (const LinkId link : dirty_) {
    links_[link].is_dirty = false;
    for (std::size_t i = 0; i < links_[link].members.size(); ++i)
      reach(links_[link].members[i].transfer);
  }
  dirty_.clear();
  for (const Id id : new_) {
    if (transfers_[id].crossings != nullptr) reach(id);
  }
  new_.clear();
  return changed_;
}

/// Fills the part of the network that the transfer belongs to, unless that is done.
void Sharing::reach(Id start) {
  if (transfers_[start].mark == mark_) return;
  reached_.clear();
  crossed_.clear();
  const auto add = [&](Id id) {
    Transfer& transfer = transfers_[id];
    if (transfer.mark == mark_) return;
    transfer.mark = mark_;
    transfer.is_stopped = false;
    reached_.push_back(id);
  };
  add(start);
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    for (const Crossing crossing : *transfers_[reached_[i]].crossings) {
      Link& link = links_[crossing.link];
      if (!could_be_full(link)) continue;
      if (link.mark != mark_) {
        link.mark = mark_;
        link.left = link.capacity;
        link.going = link.stopping = 0;
        crossed_.push_back(crossing.link);
        for (const Member member : link.members) add(member.transfer);
      }
      link.going += crossing.times;
    }
  }
  fill();
}

void Sharing::stop(Id id, double rate) {
  Transfer& transfer = transfers_[id];
  transfer.is_stopped = true;
  if (rate != transfer.rate) {
    transfer.rate = rate;
    changed_.push_back(id);
  }
  for (const Crossing crossing : *transfer.crossings) {
    Link& link = links_[crossing.link];
    if (!could_be_full(link)) continue;
    if (link.stopping == 0) stopping_.push_back(crossing.link);
    link.stopping += crossing.times;
  }
}

void Sharing::fill() {
  if (reached_.size() == 1) {
    const Id id = reached_.front();
    double rate = transfers_[id].most;
    for (const LinkId link : crossed_) rate = std::min(rate, links_[link].level());
    stop(id, rate);
    for (const LinkId link : stopping_) links_[link].stopping = 0;
    stopping_.clear();
    return;
  }
  for (const Id id : reached_) {
    if (!transfers_[id].has_met) ++contended_;
    transfers_[id].has_met = true;
  }
  const auto by_most = [&](Id a, Id b) { return transfers_[a].most < transfers_[b].most; };
  if (!std::ranges::is_sorted(reached_, by_most)) std::ranges::sort(reached_, by_most);
  levels_.clear();
  for (const LinkId link : crossed_) levels_.push_back({links_[link].level(), link});
  std::ranges::make_heap(levels_, IsHigher{});
  const auto holds = [&](const Level& level) {
    const Link& link = links_[level.link];
    return link.going > 0 && link.level() == level.rate;
  };
  const auto drop_lowest = [&] {
    std::ranges::pop_heap(levels_, IsHigher{});
    levels_.pop_back();
  };
  std::size_t next = 0;  // of those that can take least
  while (true) {
    while (next < reached_.size() && transfers_[reached_[next]].is_stopped) ++next;
    if (next == reached_.size()) return;
    while (!levels_.empty() && !holds(levels_.front())) drop_lowest();
    double rate = transfers_[reached_[next]].most;
    if (!levels_.empty()) rate = std::min(rate, levels_.front().rate);
    for (; next < reached_.size() && transfers_[reached_[next]].most <= rate; ++next) {
      if (!transfers_[reached_[next]].is_stopped) stop(reached_[next], rate);
    }
    while (!levels_.empty() && levels_.front().rate <= rate) {
      const Level full = levels_.front();
      drop_lowest();
      if (!holds(full)) continue;
      for (const Member member : links_[full.link].members) {
        if (!transfers_[member.transfer].is_stopped) stop(member.transfer, rate);
      }
    }
    for (const LinkId id : stopping_) {
      Link& link = links_[id];
      link.going -= link.stopping;
      link.left = std::max(link.left - static_cast<double>(link.stopping) * rate, 0.0);
      link.stopping = 0;
      if (link.going == 0) continue;
      levels_.push_back({link.level(), id});
      std::ranges::push_heap(levels_, IsHigher{});
    }
    stopping_.clear();
  }
}

}  // namespace stepsim
