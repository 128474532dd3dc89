// Colour refinement of a plan, and its quotient.
#include "sim/plan/fold.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "sim/cluster/link_names.hpp"
#include "sim/core/error.hpp"
#include "sim/plan/flows.hpp"
#include "sim/plan/plan_cache.hpp"

namespace stepsim {
namespace {

using Colour = std::uint64_t;
using Colours = std::vector<Colour>;

/// A well-mixed hash of two numbers (the finaliser of SplitMix64, Steele, Lea, Flood 2014).
///
/// What is unlike is folded together only if its colours are equal by accident. Among k colours the
/// chance of that is at most k (k - 1) / 2 in 2^64, the birthday bound, and there are as many
/// drawings as rounds, each for ranks, groups, flows and links. Of what is alike colours are equal
/// by right, so that k is the number of classes: 10 rounds of 10,000 classes of each come to
/// 1e-10. Where nothing at all is alike, as with jitter on each of 16,384 ranks and half a million
/// flows, it is below 1e-6. The same plan has the same colours on every machine: an accident would
/// be one plan's, and not come and go.
Colour mix(Colour a, Colour b) {
  Colour z = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// Numbers of colours in order of first appearance. Colours are hashes already: their bits say
/// where they go in a table with free places.
class Numbers {
 public:
  /// The colour's number, and whether it is new.
  std::pair<int, bool> add(Colour colour) {
    const std::size_t place = place_of(colour);
    if (table_[place].number != kFree) return {table_[place].number, false};
    table_[place] = {colour, count_++};
    if (2 * static_cast<std::size_t>(count_) > table_.size()) grow();
    return {count_ - 1, true};
  }
  int count() const { return count_; }

 private:
  static constexpr int kFree = -1;
  struct Known {
    Colour colour = 0;
    int number = kFree;
  };

  std::size_t place_of(Colour colour) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t place = colour & mask;
    while (table_[place].number != kFree && table_[place].colour != colour)
      place = (place + 1) & mask;
    return place;
  }
  void grow() {
    std::vector<Known> old(2 * table_.size());
    old.swap(table_);
    for (const Known& known : old) {
      if (known.number != kFree) table_[place_of(known.colour)] = known;
    }
  }

  std::vector<Known> table_ = std::vector<Known>(64);
  int count_ = 0;
};

int count(const Colours& colours) {
  Numbers numbers;
  for (const Colour colour : colours) numbers.add(colour);
  return numbers.count();
}

struct Partition {
  Colours ranks, groups, flows, links;
  int classes() const { return count(ranks) + count(groups) + count(flows) + count(links); }
};

/// Refines the first block alone: ranks, groups and links of other blocks have the colours of those
/// that they are like in it (sim/cluster/blocks.hpp).
class Refinement {
 public:
  Refinement(const Plan& plan, const PlanFlows& flows)
      : plan_(plan), flows_(flows), channels_(channels_of(plan)) {}

  Partition coarsest() const {
    Partition now = start();
    for (int before = 0, classes = now.classes(); classes != before;) {
      before = classes;
      now = refine(now);
      classes = now.classes();
    }
    return now;
  }

  /// Everything a class of its own.
  Partition discrete() const {
    Partition p{Colours(ranks()), Colours(plan_.groups.size()), Colours(flows_.size()),
                Colours(flows_.links().size())};
    for (Colours* colours : {&p.ranks, &p.groups, &p.flows, &p.links})
      std::iota(colours->begin(), colours->end(), 0);
    return p;
  }

 private:
  std::size_t ranks() const {
    return plan_.program_of.size() / static_cast<std::size_t>(plan_.blocks.count);
  }

  Partition start() const {
    Partition p;
    for (std::size_t place = 0; place < ranks(); ++place) {
      const auto rank = static_cast<std::size_t>(plan_.blocks.rank_at(place));
      p.ranks.push_back(mix(1, static_cast<Colour>(plan_.program_of[rank])));
    }
    single_out(plan_.kernel_draws, p.ranks);
    for (std::size_t rank = 0; plan_.sample_draws && rank < p.ranks.size(); ++rank) {
      if (plan_.program(static_cast<int>(rank)).readers > 0)
        p.ranks[rank] = mix(mix(12, rank), p.ranks[rank]);
    }
    for (const Group& group : plan_.groups)
      p.groups.push_back(mix(2, static_cast<Colour>(group.channel)));
    single_out(plan_.collective_draws, p.groups);
    for (const Flow& flow : flows_.all()) {
      const Colour kind = mix(flow.reads ? 3 : 4, static_cast<Colour>(flow.copies));
      p.flows.push_back(mix(mix(kind, flow.pattern), std::bit_cast<Colour>(flow.share)));
    }
    const FirstLinks& links = flows_.links();
    for (std::size_t place = 0; place < links.size(); ++place) {
      const Link link = plan_.network.links()[links.link(place)];
      p.links.push_back(mix(5, std::bit_cast<Colour>(link.bandwidth.bytes_per_second())));
    }
    for (const LinkWindow& window : plan_.windows) {
      Colour& colour = p.links[links.place_of(window.link)];
      for (const double part : {window.factor, window.from, window.until, window.period})
        colour = mix(colour, std::bit_cast<Colour>(part));
    }
    for (const LinkLoad& load : background_of(plan_.network)) {
      Colour& colour = p.links[links.place_of(load.link)];
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

  /// What a rank, a group, a flow or a link hands on to those around it is mixed once for all.
  Partition refine(const Partition& old) const {
    Partition next = old;
    for (std::size_t rank = 0; rank < next.ranks.size(); ++rank) {
      for (const std::size_t channel : channels_) {
        const int group = plan_.group_of[rank][channel];
        next.ranks[rank] =
            mix(next.ranks[rank], group < 0 ? 0 : old.groups[static_cast<std::size_t>(group)]);
      }
    }
    // Members of a collective are alike; the sender of a transfer is not like its receiver (two
    // stages in a circle send to each other).
    const Colours member = mixed(6, old.ranks), receiver = mixed(10, old.ranks);
    for (std::size_t g = 0; g < next.groups.size(); ++g) {
      const Members of = flows_.members(g);
      Colour members = 0;
      for (const std::uint32_t rank : of.places) members += member[rank];
      members *= static_cast<Colour>(of.blocks);
      if (is_transfer(plan_.groups[g].channel)) {
        const std::uint32_t last = of.places.back();
        members += receiver[last] - member[last];
      }
      next.groups[g] = mix(next.groups[g], members);
    }
    refine_by_flows(old, next);
    return next;
  }

  static Colours mixed(Colour kind, const Colours& colours) {
    Colours result;
    result.reserve(colours.size());
    for (const Colour colour : colours) result.push_back(mix(kind, colour));
    return result;
  }

  void refine_by_flows(const Partition& old, Partition& next) const {
    Colours in_group(next.groups.size(), 0), on_link(next.links.size(), 0),
        on_rank(next.ranks.size(), 0);
    const Colours crossed = mixed(7, old.links);
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      const Flow& flow = flows_[f];
      const Colour crossing = mix(8, old.flows[f]);
      Colour links = 0;
      for (const Crossings& link : flows_.of(flow)) {
        const auto times = static_cast<Colour>(link.times);
        links += times * crossed[link.place];
        on_link[link.place] += times * crossing;
      }
      links *= static_cast<Colour>(flow.blocks);
      next.flows[f] =
          mix(mix(next.flows[f], links), (flow.reads ? old.ranks : old.groups)[flow.owner]);
      (flow.reads ? on_rank : in_group)[flow.owner] += mix(9, old.flows[f]);
    }
    for (const auto& [colours, more] :
         {std::pair{&next.groups, &in_group}, {&next.links, &on_link}, {&next.ranks, &on_rank}}) {
      for (std::size_t i = 0; i < more->size(); ++i) (*colours)[i] = mix((*colours)[i], (*more)[i]);
    }
  }

  /// Channels on which any rank has a group.
  static std::vector<std::size_t> channels_of(const Plan& plan) {
    std::array<bool, kChannels> used{};
    for (const Group& group : plan.groups) {
      used[static_cast<std::size_t>(group.channel)] = true;
      if (is_transfer(group.channel)) used[static_cast<std::size_t>(group.channel) + 1] = true;
    }
    std::vector<std::size_t> channels;
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      if (used[channel]) channels.push_back(channel);
    }
    return channels;
  }

  const Plan& plan_;
  const PlanFlows& flows_;
  const std::vector<std::size_t> channels_;
};

/// Class numbers in order of first appearance, and the first member of each.
struct Classes {
  explicit Classes(const Colours& colours) {
    Numbers numbers;
    of.reserve(colours.size());
    for (std::size_t i = 0; i < colours.size(); ++i) {
      const auto [number, is_new] = numbers.add(colours[i]);
      if (is_new) {
        first.push_back(i);
        size.push_back(0);
      }
      ++size[static_cast<std::size_t>(number)];
      of.push_back(number);
    }
  }
  std::vector<int> of;
  std::vector<std::size_t> first;
  std::vector<int> size;
};

class Quotient {
 public:
  Quotient(const Plan& plan, const PlanFlows& flows, const Partition& partition)
      : plan_(plan),
        flows_(flows),
        ranks_(partition.ranks),
        groups_(partition.groups),
        flow_classes_(partition.flows),
        links_(partition.links) {}

  Folding make() {
    Folding folding;
    folding.ranks_total = static_cast<int>(plan_.program_of.size());
    for (const std::size_t place : links_.first)
      folding.links.push_back(plan_.network.links()[flows_.links().link(place)].bandwidth);
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
      const std::size_t place = flows_.links().place_of(window.link);
      const auto link_class = static_cast<std::size_t>(links_.of[place]);
      if (links_.first[link_class] != place) continue;
      varies_[link_class] = true;
      window.link = static_cast<LinkId>(link_class);
      folding.windows.push_back(window);
    }
  }

  /// How often each link representative is crossed, by flow class and in all.
  void count_crossings() {
    load_.assign(links_.first.size(), 0);
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      for (const Crossings& link : flows_.of(flows_[f])) {
        const auto link_class = static_cast<std::size_t>(links_.of[link.place]);
        if (links_.first[link_class] != link.place) continue;
        crossings_[key(flow_classes_.of[f], link_class)] += link.times;
        load_[link_class] += link.times * flows_[f].copies;
      }
    }
  }

  /// Each link that is in use has the load of its representative.
  void add_background(Folding& folding) {
    for (const LinkLoad& load : background_of(plan_.network)) {
      const std::size_t place = flows_.links().place_of(load.link);
      const auto link_class = static_cast<std::size_t>(links_.of[place]);
      if (links_.first[link_class] != place || load_[link_class] == 0) continue;
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
      for (const std::uint32_t rank : flows_.members(g).places) members.push_back(ranks_.of[rank]);
      std::ranges::sort(members);
      const auto distinct = std::unique(members.begin(), members.end()) - members.begin();
      folding.groups.push_back({plan_.groups[g].channel, g, static_cast<int>(distinct), {}});
    }
  }

  void add_ranks(Folding& folding) {
    for (std::size_t c = 0; c < ranks_.first.size(); ++c) {
      const std::size_t place = ranks_.first[c];
      FoldedRank folded{.rank = plan_.blocks.rank_at(place),
                        .multiplicity = ranks_.size[c] * plan_.blocks.count};
      for (std::size_t channel = 0; channel < kChannels; ++channel) {
        const int group = plan_.group_of[place][channel];
        folded.group_of[channel] = group < 0 ? -1 : groups_.of[static_cast<std::size_t>(group)];
      }
      folding.ranks.push_back(folded);
    }
    for (FoldedRank& folded : folding.ranks)
      folded.members.reserve(static_cast<std::size_t>(folded.multiplicity));
    for (int rank = 0; rank < folding.ranks_total; ++rank) {
      const int of = ranks_.of[plan_.blocks.index_of(rank)];
      folding.ranks[static_cast<std::size_t>(of)].members.push_back(rank);
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
    for (const Crossings& link : flows_.of(flows_[f])) classes.push_back(links_.of[link.place]);
    // The constraint of a link class stands once, for its representative.
    std::ranges::sort(classes);
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    for (const int link_class : classes) {
      const auto link = static_cast<std::size_t>(link_class);
      const int crossings = crossings_[key(flow_classes_.of[f], link)];
      stream.varies |= varies_[link];
      if (load_[link] > crossings || varies_[link])
        stream.crossings.push_back(
            {static_cast<LinkId>(link), static_cast<std::uint32_t>(crossings)});
      slowest = std::min(slowest, folding.links[link].bytes_per_second() / crossings);
    }
    stream.alone = BytesPerSecond{slowest};
    return stream;
  }

  const Plan& plan_;
  const PlanFlows& flows_;
  Classes ranks_, groups_, flow_classes_, links_;
  std::unordered_map<std::uint64_t, int> crossings_;
  std::vector<int> load_;
  std::vector<bool> varies_;
};

Folding made(const Plan& plan, bool fold) {
  const PlanFlows flows(plan);
  const Refinement refinement(plan, flows);
  return Quotient(plan, flows, fold ? refinement.coarsest() : refinement.discrete()).make();
}

/// Nothing is drawn, read, or slow for a while: classes depend on programs, groups and links alone.
bool is_plain(const Plan& plan) {
  return plan.lanes.empty() && plan.windows.empty() && !plan.kernel_draws &&
         !plan.collective_draws && !plan.sample_draws;
}

}  // namespace

Folding fold_plan(const Plan& plan, bool fold) {
  if (!fold && plan.blocks.count > 1) throw InternalError("a plan of one block only folds");
  if (!fold || !is_plain(plan) || plan.cache == nullptr) return made(plan, fold);
  std::optional<KnownFolding>& known = plan.cache->folding;
  const bool is_same = known && known->groups.is(plan.groups) &&
                       known->program_of == plan.program_of && known->links == plan.network.links();
  if (!is_same)
    known = KnownFolding{plan.groups, plan.program_of, plan.network.links(), made(plan, true)};
  return known->folding;
}

}  // namespace stepsim
