// Colour refinement of a plan, and its quotient.
#include "sim/plan/fold.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "sim/cluster/link_names.hpp"

namespace stepsim {
namespace {

using Colour = std::uint64_t;
using Colours = std::vector<Colour>;

/// A well-mixed hash of two numbers (the finaliser of SplitMix64, Steele, Lea, Flood 2014).
Colour mix(Colour a, Colour b) {
  Colour z = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// One stream of one group, or what one rank reads on a lane.
struct Flow {
  std::size_t owner = 0;  // group, or rank for reads
  bool reads = false;
  int copies = 1;           // reads: rows that may read at once
  std::size_t pattern = 0;  // reads: the lane
  double share = 1;
  const std::vector<LinkId>* links = nullptr;  // the plan's
};

std::vector<Flow> flows_of(const Plan& plan) {
  std::vector<Flow> flows;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    for (std::size_t pattern = 0; pattern < kPatterns; ++pattern) {
      for (const Stream& stream : plan.groups[g].streams[pattern])
        flows.push_back({g, false, 1, pattern, stream.share, &stream.links});
    }
  }
  for (std::size_t rank = 0; rank < plan.lanes.size(); ++rank) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const bool loads = is_of_loaders(static_cast<Lane>(lane));
      const int readers = loads ? plan.program(static_cast<int>(rank)).readers : 1;
      const std::vector<LinkId>& links = plan.lanes[rank][lane];
      if (!links.empty()) flows.push_back({rank, true, readers, lane, 1, &links});
    }
  }
  return flows;
}

/// How many different ones there are. They are hashes already: their bits say where they go in a
/// table with free places.
std::size_t count(const Colours& colours) {
  std::vector<Colour> table(64);
  std::size_t different = 0;
  bool has_zero = false;  // 0 marks a free place
  const auto place_of = [&](Colour colour) {
    std::size_t place = colour & (table.size() - 1);
    while (table[place] != 0 && table[place] != colour) place = (place + 1) & (table.size() - 1);
    return place;
  };
  for (const Colour colour : colours) {
    has_zero |= colour == 0;
    const std::size_t place = place_of(colour);
    if (colour == 0 || table[place] == colour) continue;
    table[place] = colour;
    if (2 * ++different < table.size()) continue;
    Colours old(2 * table.size());
    old.swap(table);
    for (const Colour known : old) {
      if (known != 0) table[place_of(known)] = known;
    }
  }
  return different + (has_zero ? 1 : 0);
}

struct Partition {
  Colours ranks, groups, flows, links;
  std::size_t classes() const { return count(ranks) + count(groups) + count(flows) + count(links); }
};

class Refinement {
 public:
  Refinement(const Plan& plan, const std::vector<Flow>& flows) : plan_(plan), flows_(flows) {}

  Partition coarsest() const {
    Partition now = start();
    for (std::size_t classes = 0; classes != now.classes();) {
      classes = now.classes();
      now = refine(now);
    }
    return now;
  }

  /// Everything a class of its own.
  Partition discrete() const {
    Partition p{Colours(plan_.program_of.size()), Colours(plan_.groups.size()),
                Colours(flows_.size()), Colours(plan_.network.links().size())};
    for (Colours* colours : {&p.ranks, &p.groups, &p.flows, &p.links})
      std::iota(colours->begin(), colours->end(), 0);
    return p;
  }

 private:
  Partition start() const {
    Partition p;
    for (const int program : plan_.program_of)
      p.ranks.push_back(mix(1, static_cast<Colour>(program)));
    single_out(plan_.kernel_draws, p.ranks);
    for (std::size_t rank = 0; plan_.sample_draws && rank < p.ranks.size(); ++rank) {
      if (plan_.program(static_cast<int>(rank)).readers > 0)
        p.ranks[rank] = mix(mix(12, rank), p.ranks[rank]);
    }
    for (const Group& group : plan_.groups)
      p.groups.push_back(mix(2, static_cast<Colour>(group.channel)));
    single_out(plan_.collective_draws, p.groups);
    for (const Flow& flow : flows_) {
      const Colour kind = mix(flow.reads ? 3 : 4, static_cast<Colour>(flow.copies));
      p.flows.push_back(mix(mix(kind, flow.pattern), std::bit_cast<Colour>(flow.share)));
    }
    for (const Link& link : plan_.network.links()) {
      p.links.push_back(mix(5, std::bit_cast<Colour>(link.bandwidth.bytes_per_second())));
    }
    for (const LinkWindow& window : plan_.windows) {
      for (const double part : {window.factor, window.from, window.until, window.period})
        p.links[window.link] = mix(p.links[window.link], std::bit_cast<Colour>(part));
    }
    for (const LinkLoad& load : background_of(plan_.network)) {
      Colour& colour = p.links[load.link];
      colour = mix(colour, std::bit_cast<Colour>(load.rate.bytes_per_second()));
    }
    return p;
  }

  /// What draws its own durations is like nothing else.
  static void single_out(const std::optional<Draws>& draws, Colours& colours) {
    for (std::size_t i = 0; draws && i < colours.size(); ++i) {
      if (draws->touched[i]) colours[i] = mix(mix(11, i), colours[i]);
    }
  }

  Partition refine(const Partition& old) const {
    Partition next = old;
    for (std::size_t rank = 0; rank < next.ranks.size(); ++rank) {
      for (const int group : plan_.group_of[rank]) {
        next.ranks[rank] =
            mix(next.ranks[rank], group < 0 ? 0 : old.groups[static_cast<std::size_t>(group)]);
      }
    }
    for (std::size_t g = 0; g < next.groups.size(); ++g) {
      next.groups[g] = mix(next.groups[g], members_of(plan_.groups[g], old));
    }
    Colours in_group(next.groups.size(), 0), on_link(next.links.size(), 0),
        on_rank(next.ranks.size(), 0);
    for (std::size_t f = 0; f < flows_.size(); ++f)
      refine_flow(f, old, next, in_group, on_link, on_rank);
    for (std::size_t g = 0; g < in_group.size(); ++g)
      next.groups[g] = mix(next.groups[g], in_group[g]);
    for (std::size_t l = 0; l < on_link.size(); ++l) next.links[l] = mix(next.links[l], on_link[l]);
    for (std::size_t r = 0; r < on_rank.size(); ++r) next.ranks[r] = mix(next.ranks[r], on_rank[r]);
    return next;
  }

  /// Members of a collective are alike; the sender of a transfer is not like its receiver (two
  /// stages in a circle send to each other).
  static Colour members_of(const Group& group, const Partition& old) {
    Colour members = 0;
    for (const int rank : group.ranks) {
      const bool receives = is_transfer(group.channel) && rank == group.ranks.back();
      members += mix(receives ? 10 : 6, old.ranks[static_cast<std::size_t>(rank)]);
    }
    return members;
  }

  void refine_flow(std::size_t f, const Partition& old, Partition& next, Colours& in_group,
                   Colours& on_link, Colours& on_rank) const {
    const Flow& flow = flows_[f];
    Colour links = 0;
    for (const LinkId link : *flow.links) {
      links += mix(7, old.links[link]);
      on_link[link] += mix(8, old.flows[f]);
    }
    next.flows[f] =
        mix(mix(next.flows[f], links), (flow.reads ? old.ranks : old.groups)[flow.owner]);
    (flow.reads ? on_rank : in_group)[flow.owner] += mix(9, old.flows[f]);
  }

  const Plan& plan_;
  const std::vector<Flow>& flows_;
};

/// Class numbers in order of first appearance, and the first member of each.
struct Classes {
  explicit Classes(const Colours& colours) {
    std::unordered_map<Colour, int> seen;
    for (std::size_t i = 0; i < colours.size(); ++i) {
      const auto [entry, is_new] = seen.emplace(colours[i], static_cast<int>(first.size()));
      if (is_new) {
        first.push_back(i);
        size.push_back(0);
      }
      ++size[static_cast<std::size_t>(entry->second)];
      of.push_back(entry->second);
    }
  }
  std::vector<int> of;
  std::vector<std::size_t> first;
  std::vector<int> size;
};

class Quotient {
 public:
  Quotient(const Plan& plan, const std::vector<Flow>& flows, const Partition& partition)
      : plan_(plan),
        flows_(flows),
        ranks_(partition.ranks),
        groups_(partition.groups),
        flow_classes_(partition.flows),
        links_(partition.links) {}

  Folding make() {
    Folding folding;
    folding.ranks_total = static_cast<int>(plan_.program_of.size());
    for (const std::size_t link : links_.first)
      folding.links.push_back(plan_.network.links()[link].bandwidth);
    add_windows(folding);
    count_crossings();
    add_background(folding);
    add_groups(folding);
    add_ranks(folding);
    add_flows(folding);
    return folding;
  }

 private:
  void add_windows(Folding& folding) {
    varies_.assign(links_.first.size(), false);
    for (LinkWindow window : plan_.windows) {
      const auto link_class = static_cast<std::size_t>(links_.of[window.link]);
      if (links_.first[link_class] != window.link) continue;
      varies_[link_class] = true;
      window.link = static_cast<LinkId>(link_class);
      folding.windows.push_back(window);
    }
  }

  /// How often each link representative is crossed, by flow class and in all.
  void count_crossings() {
    load_.assign(links_.first.size(), 0);
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      for (const LinkId link : *flows_[f].links) {
        const auto link_class = static_cast<std::size_t>(links_.of[link]);
        if (links_.first[link_class] != link) continue;
        crossings_[key(flow_classes_.of[f], link_class)] += 1;
        load_[link_class] += flows_[f].copies;
      }
    }
  }

  /// Each link that is in use has the load of its representative.
  void add_background(Folding& folding) {
    for (const LinkLoad& load : background_of(plan_.network)) {
      const auto link_class = static_cast<std::size_t>(links_.of[load.link]);
      if (links_.first[link_class] != load.link || load_[link_class] == 0) continue;
      load_[link_class] += 1;
      folding.background.push_back({static_cast<LinkId>(link_class), load.rate});
    }
  }

  static std::uint64_t key(int flow_class, std::size_t link_class) {
    return static_cast<std::uint64_t>(flow_class) << 32 | static_cast<std::uint64_t>(link_class);
  }

  void add_groups(Folding& folding) {
    for (const std::size_t g : groups_.first) {
      std::vector<int> members;
      for (const int rank : plan_.groups[g].ranks)
        members.push_back(ranks_.of[static_cast<std::size_t>(rank)]);
      std::sort(members.begin(), members.end());
      const auto distinct = std::unique(members.begin(), members.end()) - members.begin();
      folding.groups.push_back({plan_.groups[g].channel, g, static_cast<int>(distinct), {}});
    }
  }

  void add_ranks(Folding& folding) {
    for (std::size_t c = 0; c < ranks_.first.size(); ++c) {
      const std::size_t rank = ranks_.first[c];
      FoldedRank folded{.rank = static_cast<int>(rank), .multiplicity = ranks_.size[c]};
      for (std::size_t channel = 0; channel < kChannels; ++channel) {
        const int group = plan_.group_of[rank][channel];
        folded.group_of[channel] = group < 0 ? -1 : groups_.of[static_cast<std::size_t>(group)];
      }
      folding.ranks.push_back(folded);
    }
    for (std::size_t rank = 0; rank < ranks_.of.size(); ++rank) {
      folding.ranks[static_cast<std::size_t>(ranks_.of[rank])].members.push_back(
          static_cast<int>(rank));
    }
  }

  /// One stream for each class of them that belongs to a representative.
  void add_flows(Folding& folding) {
    std::unordered_map<std::uint64_t, bool> done;
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      const Flow& flow = flows_[f];
      const Classes& owners = flow.reads ? ranks_ : groups_;
      const auto owner = static_cast<std::size_t>(owners.of[flow.owner]);
      if (owners.first[owner] != flow.owner) continue;
      if (!done.emplace(key(flow_classes_.of[f], owner) | (flow.reads ? 1ULL << 63 : 0), true)
               .second)
        continue;
      if (flow.reads) {
        folding.ranks[owner].lanes[flow.pattern] = static_cast<int>(folding.reads.size());
        folding.reads.insert(folding.reads.end(), static_cast<std::size_t>(flow.copies),
                             stream(folding, f));
      } else {
        folding.groups[owner].streams[flow.pattern].push_back(stream(folding, f));
      }
    }
  }

  FoldedStream stream(const Folding& folding, std::size_t f) {
    FoldedStream stream{.share = flows_[f].share};
    double slowest = INFINITY;
    std::vector<int> classes;
    for (const LinkId link : *flows_[f].links) classes.push_back(links_.of[link]);
    // The constraint of a link class stands once, for its representative.
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    for (const int link_class : classes) {
      const auto link = static_cast<std::size_t>(link_class);
      const int crossings = crossings_[key(flow_classes_.of[f], link)];
      stream.links.insert(stream.links.end(), static_cast<std::size_t>(crossings),
                          static_cast<LinkId>(link));
      stream.varies |= varies_[link];
      stream.shares |= load_[link] > crossings || varies_[link];
      slowest = std::min(slowest, folding.links[link].bytes_per_second() / crossings);
    }
    stream.alone = BytesPerSecond{slowest};
    return stream;
  }

  const Plan& plan_;
  const std::vector<Flow>& flows_;
  Classes ranks_, groups_, flow_classes_, links_;
  std::unordered_map<std::uint64_t, int> crossings_;
  std::vector<int> load_;
  std::vector<bool> varies_;
};

}  // namespace

Folding fold_plan(const Plan& plan, bool fold) {
  const std::vector<Flow> flows = flows_of(plan);
  const Refinement refinement(plan, flows);
  return Quotient(plan, flows, fold ? refinement.coarsest() : refinement.discrete()).make();
}

}  // namespace stepsim
