// Links of collectives: members of a node among each other, NICs between nodes.
#include "sim/plan/group/group_streams.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include "sim/core/random.hpp"

namespace stepsim {
namespace {

/// A node of a group: the members there, in order, and the NICs that they own, each with the first
/// of its members. Large groups have many: they share their memory.
struct Place {
  int node = 0;
  std::span<const int> members;
  std::span<const int> nics;
  std::span<const int> owners;
};

class Places {
 public:
  /// `ranks` outlive it.
  Places(const std::vector<int>& ranks, const Network& network) {
    nics_.reserve(ranks.size());
    owners_.reserve(ranks.size());
    for (std::size_t begin = 0; begin < ranks.size();) {
      const int node = network.node_of(ranks[begin]);
      const std::size_t first = nics_.size();
      std::size_t end = begin;
      for (; end < ranks.size() && network.node_of(ranks[end]) == node; ++end)
        own(network.port_of(ranks[end]).nic, ranks[end], first);
      const std::size_t nics = nics_.size() - first;
      places_.push_back({node, std::span(ranks).subspan(begin, end - begin),
                         std::span(nics_).subspan(first, nics),
                         std::span(owners_).subspan(first, nics)});
      begin = end;
    }
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  const Place& operator[](std::size_t i) const { return places_[i]; }
  std::size_t size() const { return places_.size(); }
  const Place& front() const { return places_.front(); }
  auto begin() const { return places_.begin(); }
  auto end() const { return places_.end(); }

 private:
  /// `first`: of its node.
  void own(int nic, int rank, std::size_t first) {
    if (std::find(nics_.begin() + static_cast<std::ptrdiff_t>(first), nics_.end(), nic) !=
        nics_.end())
      return;
    nics_.push_back(nic);
    owners_.push_back(rank);
  }

  std::vector<Place> places_;
  std::vector<int> nics_, owners_;  // members, so that their memory stays where it is
};

/// Counts streams that cross the same links as often. They are told apart by sums of the links'
/// hashes: two unlike ones of a group meet with a chance of one in 2^64 (see mix in fold.cpp).
class AlikeStreams {
 public:
  void add(std::vector<LinkId> links) {
    std::uint64_t sum = 0;
    for (const LinkId link : links) sum += RandomKey(link).bits();
    int*& times = times_[sum];
    if (times == nullptr) {
      std::ranges::sort(links);
      times = &streams_[std::move(links)];
    }
    ++*times;
  }
  /// One for each, with its share of all that were added; in order of their links.
  std::vector<Stream> take(std::size_t added) const {
    std::vector<Stream> streams;
    for (const auto& [links, times] : streams_)
      streams.push_back({times / static_cast<double>(added), links});
    return streams;
  }

 private:
  std::map<std::vector<LinkId>, int> streams_;
  std::unordered_map<std::uint64_t, int*> times_;
};

class Streams {
 public:
  Streams(const std::vector<int>& ranks, const Network& network)
      : ranks_(ranks), network_(network), places_(ranks, network) {
    nics_ = places_.front().nics.size();
    for (const Place& place : places_) nics_ = std::min(nics_, place.nics.size());
  }

  GroupShape shape() const {
    return {static_cast<int>(ranks_.size()), static_cast<int>(places_.size()),
            static_cast<int>(nics_)};
  }

  /// One stream for each of the rings that a node has over its members. Where nodes differ in
  /// their rings each uses its first alone.
  std::vector<Stream> inside() const {
    std::vector<std::vector<Ring>> of_nodes;
    for (const Place& place : places_) {
      if (place.members.size() > 1)
        of_nodes.push_back(network_.rings({place.members.begin(), place.members.end()}));
    }
    if (of_nodes.empty()) return {};
    const std::vector<double> shares = shares_of(of_nodes.front());
    const bool alike = std::ranges::all_of(
        of_nodes, [&](const auto& rings) { return shares_of(rings) == shares; });
    std::vector<Stream> streams;
    for (std::size_t i = 0; i < (alike ? shares.size() : 1); ++i) {
      Stream stream{alike ? shares[i] : 1, {}};
      for (const auto& rings : of_nodes) add_ring(stream, rings[i].gpus);
      streams.push_back(std::move(stream));
    }
    return streams;
  }

  std::vector<Stream> between() const {
    Stream stream;
    for (std::size_t i = 0; i < places_.size(); ++i) add_hop(stream, i, next(i, 1));
    return some(std::move(stream));
  }

  std::vector<Stream> neighbours() const {
    Stream stream;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      append(stream, network_.route(ranks_[i], ranks_[(i + 1) % ranks_.size()]));
    return some(std::move(stream));
  }

  /// One stream for each distance around the node; those over the same links are one.
  std::vector<Stream> pairs_inside() const {
    std::size_t most = 0;
    for (const Place& place : places_) most = std::max(most, place.members.size());
    if (most < 2) return {};
    AlikeStreams alike;
    for (std::size_t distance = 1; distance < most; ++distance) alike.add(shift_inside(distance));
    return alike.take(most - 1);
  }

  std::vector<Stream> pairs_between() const {
    if (places_.size() < 2) return {};
    const std::vector<std::size_t> levels = even_levels();
    return levels.empty() ? pairs_by_distance() : pairs_by_level(levels);
  }

 private:
  /// Places in each region that has any, from the smallest level to the whole; {} where the fabric
  /// has no levels or the group does not fill their regions evenly.
  std::vector<std::size_t> even_levels() const {
    const std::size_t levels = network_.regions(places_.front().node).size();
    std::vector<std::size_t> sizes;
    for (std::size_t level = 0; level < levels; ++level) {
      std::map<int, std::size_t> members;
      for (const Place& place : places_) ++members[network_.regions(place.node)[level]];
      for (const auto& [region, count] : members) {
        if (count != members.begin()->second) return {};
      }
      sizes.push_back(members.begin()->second);
    }
    if (!sizes.empty()) sizes.push_back(places_.size());
    return sizes;
  }

  /// From each place to one that shares the level's region with it and no smaller one, so that each
  /// is sent to once: the place as far on as a smaller region is large, around the region. Places
  /// stand in order of node, and regions are of neighbouring nodes.
  std::vector<Stream> pairs_by_level(const std::vector<std::size_t>& sizes) const {
    std::vector<Stream> streams;
    std::size_t smaller = 1;
    for (const std::size_t size : sizes) {
      if (size > smaller) {
        Stream stream{static_cast<double>(size - smaller) / static_cast<double>(places_.size() - 1),
                      {}};
        for (std::size_t i = 0; i < places_.size(); ++i) {
          const std::size_t first = i / size * size;
          add_hop(stream, i, first + (i - first + smaller) % size);
        }
        streams.push_back(std::move(stream));
      }
      smaller = size;
    }
    return streams;
  }

  std::vector<Stream> pairs_by_distance() const {
    const std::size_t count = places_.size();
    const std::size_t distances = std::min(count - 1, kMostDistances);
    AlikeStreams alike;
    for (std::size_t d = 0; d < distances; ++d) {
      Stream stream;
      for (std::size_t i = 0; i < count; ++i)
        add_hop(stream, i, next(i, 1 + d * (count - 1) / distances));
      alike.add(std::move(stream.links));
    }
    return alike.take(distances);
  }

  static std::vector<Stream> some(Stream stream) {
    if (stream.links.empty()) return {};
    return {std::move(stream)};
  }
  static void append(Stream& stream, const std::vector<LinkId>& links) {
    stream.links.insert(stream.links.end(), links.begin(), links.end());
  }
  std::size_t next(std::size_t i, std::size_t distance) const {
    return (i + distance) % places_.size();
  }

  void add_hop(Stream& stream, std::size_t from, std::size_t to) const {
    const Place& a = places_[from];
    const Place& b = places_[to];
    for (std::size_t k = 0; k < nics_; ++k) {
      append(stream, network_.to_nic(a.owners[k]));
      network_.add_route({a.node, a.nics[k]}, {b.node, b.nics[k]}, stream.links);
      append(stream, network_.from_nic(b.owners[k]));
    }
  }

  void add_ring(Stream& stream, const std::vector<int>& ranks) const {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      append(stream, network_.inside(ranks[i], ranks[(i + 1) % ranks.size()]));
  }
  static std::vector<double> shares_of(const std::vector<Ring>& rings) {
    std::vector<double> shares;
    for (const Ring& ring : rings) shares.push_back(ring.share);
    return shares;
  }

  std::vector<LinkId> shift_inside(std::size_t distance) const {
    Stream stream;
    for (const Place& place : places_) {
      const std::size_t count = place.members.size();
      if (distance % count == 0) continue;
      for (std::size_t i = 0; i < count; ++i)
        append(stream, network_.inside(place.members[i], place.members[(i + distance) % count]));
    }
    return std::move(stream.links);
  }

  const std::vector<int>& ranks_;
  const Network& network_;
  const Places places_;
  std::size_t nics_ = 0;
};

}  // namespace

void lay_out(Group& group, const Network& network, Moves moves) {
  const Streams streams(group.ranks, network);
  group.shape = streams.shape();
  const auto of = [&](Pattern pattern) -> std::vector<Stream>& {
    return group.streams[static_cast<std::size_t>(pattern)];
  };
  if (moves == Moves::rings_and_neighbours) of(Pattern::neighbours) = streams.neighbours();
  switch (moves) {
    case Moves::rings_and_neighbours:
    case Moves::rings:
      of(Pattern::inside) = streams.inside();
      if (group.shape.nodes > 1) of(Pattern::between) = streams.between();
      return;
    case Moves::pairs:
      of(Pattern::pairs_inside) = streams.pairs_inside();
      of(Pattern::pairs_between) = streams.pairs_between();
      return;
    case Moves::neighbours:
      of(Pattern::neighbours) = streams.neighbours();
      return;
    case Moves::none:
      return;
  }
}

}  // namespace stepsim
