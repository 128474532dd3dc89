// Bounding, sorting, simulating.
#include "sim/search/best_first.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/search/candidate.hpp"
#include "sim/search/deferred_sets.hpp"
#include "sim/search/usual_strategies.hpp"

namespace stepsim {
namespace {

/// Strategies that are simulated before the next are chosen. The first say most about the others.
constexpr std::size_t kFirstBatch = 4, kLargestBatch = 16;
/// Bounds that are so far above a step that is known to be possible are not worth their memory:
/// they are not the best, and the ten best of Llama 3 405B on 16,384 GPUs lie within 8 %.
constexpr double kFar = 1.25;
constexpr std::size_t kMostCandidates = 2'000'000;  // some 250 MB
/// Strategies that are looked at for each that may be simulated: some turn out not to fit, of Llama
/// 3 405B 18 beside 78. Where far more do not, the bounds of memory say nothing.
constexpr std::int64_t kTries = 4;
/// Choices that neighbours differ in. Judgement: two changes often belong together.
constexpr int kNearest = 2;
constexpr std::size_t kUsual = 8;      // usual strategies that are simulated first
constexpr std::size_t kLooks = 8;      // closer bounds for each neighbour that is simulated
constexpr std::int64_t kEvery = 4096;  // strategies between two words to people who wait
/// Sums of the same numbers in another order may differ by so much, of their size.
constexpr double kRounding = 1e-9;

/// Plans of one kind: whether sequences and layers are split, what is recomputed and sharded. Bounds
/// are about as good for all of a family.
using Family = std::tuple<bool, bool, std::size_t, std::string_view>;
Family family_of(const Strategy& s) {
  return {s.context > 1, s.stages > 1, index_of(s.recompute, s.modules), s.sharding->name};
}

/// Bounds of pipelines are as good as their schedule is simple.
using OffKey = std::pair<Family, std::string_view>;
OffKey off_key_of(const Strategy& s) { return {family_of(s), s.schedule->name}; }

/// How far steps of a family were above their bounds: a factor.
struct Off {
  double sum = 0;
  int count = 0;
  void add(double factor) {
    sum += factor;
    ++count;
  }
  double mean() const { return sum / count; }
};

class Search {
 public:
  Search(const Axes& axes, const SearchBase& base, const SearchLimits& limits,
         const SimulateStrategies& simulate,
         const std::function<void(const SearchProgress&)>& on_progress)
      : axes_(axes),
        base_(base),
        limits_(limits),
        simulate_(simulate),
        on_progress_(on_progress),
        bounds_(base) {
    if (!limits.own) return;
    result_.ranked.push_back(*limits.own);
    Scenario own = base.scenario;
    set_strategy(own, limits.own->strategy, base);
    own_is_exact_ = own == base.scenario;
  }

  SearchOutcome run() {
    start_with_usual();
    bound_all();
    std::ranges::make_heap(candidates_, comes_after);
    while (wants_more()) {
      if (!simulate_batch()) break;
    }
    if (!result_.is_whole && result_.end == SearchEnd::complete) result_.end = SearchEnd::expired;
    count_rest();
    count_open();
    return std::move(result_);
  }

 private:
  /// Whatever ends the search early, there is an answer; and it prunes the rest.
  void start_with_usual() {
    const auto most = std::min(kUsual, static_cast<std::size_t>(limits_.simulations) / 4);
    auto batch =
        usual_strategies(axes_, base_, bounds_, limits_.capacity, most, [&] { return is_over(); });
    if (own_is_exact_)
      std::erase_if(batch, [&](const auto& one) { return one.strategy == limits_.own->strategy; });
    if (!batch.empty() && !is_over()) simulate_all(batch);
    usual_ = std::move(batch);
  }

  void bound_all() {
    const auto visit = [&](const FrameVariants& frame) {
      counts().refused += frame.refused;
      counts().considered += frame.refused + static_cast<std::int64_t>(frame.variants.size());
      deferred_.begin_frame();
      for (const Strategy& strategy : frame.variants)
        keep({bounds_.of(strategy), number_++, strategy});
      if (on_progress_ && number_ - said_ >= kEvery) {
        said_ = number_;
        say();
      }
    };
    const auto stops = [&] {
      if (is_interrupted()) result_.end = SearchEnd::interrupted;
      const bool enough = limits_.enough && limits_.enough();
      result_.is_whole = result_.is_whole && !enough && !is_interrupted();
      return !result_.is_whole;
    };
    walk(axes_, base_, visit, {.keep_refused = false, .stops = stops});
  }

  bool is_interrupted() const { return limits_.interrupted && limits_.interrupted(); }

  void keep(const Candidate& candidate) {
    const bool is_plain = candidate.strategy.recompute == Recompute::none;
    const auto usual = std::ranges::find(usual_, candidate.strategy, &TriedStrategy::strategy);
    if (usual != usual_.end()) {
      if (is_plain && usual->outcome.ran()) deferred_.add_plain(candidate.strategy);
      return;
    }
    if (candidate.bound.memory > limits_.capacity) {
      ++counts().too_large;
      return keep_smallest({candidate.strategy, candidate.bound, {}});
    }
    if (own_is_exact_ && candidate.strategy == limits_.own->strategy) {
      ++counts().simulated;
      return;
    }
    if (best() && candidate.bound.step > kFar * *best()) {
      ++counts().pruned;
      return;
    }
    const auto fate = deferred_.fate_of(candidate.strategy, candidate.bound);
    if (fate == DeferredSets::Fate::dominated) ++counts().pruned;
    if (fate != DeferredSets::Fate::candidate) return;
    if (is_plain) deferred_.add_plain(candidate.strategy, candidate.number);
    candidates_.push_back(candidate);
    if (candidates_.size() >= kMostCandidates) drop_half();
  }

  void keep_smallest(const TriedStrategy& tried) {
    if (!result_.smallest || tried.needed() < result_.smallest->needed()) result_.smallest = tried;
  }

  std::optional<Seconds> best() const {
    if (result_.ranked.empty()) return std::nullopt;
    return result_.ranked.front().outcome.step;
  }

  /// The candidate with the lowest bound, which is a close one where that matters; nothing: none
  /// of those that are left is wanted.
  const Candidate* front() {
    while (!candidates_.empty()) {
      const Candidate& first = candidates_.front();
      const bool proven = best() && first.bound.step >= *best();
      if (proven && result_.ranked.size() >= limits_.keep) return nullptr;
      if (first.is_refined) return &first;
      Candidate candidate = take();
      refine(candidate);
      candidates_.push_back(candidate);
      std::ranges::push_heap(candidates_, comes_after);
      if (is_over()) return nullptr;
    }
    return nullptr;
  }

  Candidate take() {
    std::ranges::pop_heap(candidates_, comes_after);
    const Candidate candidate = candidates_.back();
    candidates_.pop_back();
    return candidate;
  }

  bool is_over() {
    if (is_interrupted()) result_.end = SearchEnd::interrupted;
    if (result_.end == SearchEnd::complete && limits_.expired && limits_.expired())
      result_.end = SearchEnd::expired;
    return result_.end != SearchEnd::complete;
  }

  /// The best is not proven yet, or there are fewer than are wanted.
  bool wants_more() {
    if (result_.interrupted() || front() == nullptr || is_over()) return false;
    if (counts_.simulated >= limits_.simulations || tries_ >= kTries * limits_.simulations)
      result_.end = SearchEnd::simulations;
    return result_.end == SearchEnd::complete;
  }

  /// The strategies to simulate next: next to the best that is known, of families that were tried
  /// least, and those that are expected to be fastest. Where bounds are far from what they bound, their order alone
  /// would try all of a bad family before it comes to a better one.
  std::vector<TriedStrategy> next_batch() {
    const auto allowed = static_cast<std::size_t>(
        std::max<std::int64_t>(limits_.simulations - counts_.simulated, 1));
    const std::size_t size = std::min(batch_, allowed);
    std::vector<Candidate> taken = take_neighbours(size / 2);
    for (const Candidate& candidate : take_families((size - taken.size() + 1) / 2))
      taken.push_back(candidate);
    for (const Candidate& candidate : take_promising(size - taken.size()))
      taken.push_back(candidate);
    while (taken.size() < size && front() != nullptr) taken.push_back(take());
    std::vector<TriedStrategy> batch;
    for (const Candidate& candidate : taken)
      batch.push_back({candidate.strategy, candidate.bound, {}});
    return batch;
  }

  /// What a candidate's step comes to if its bound is as far off as those of its family were.
  Seconds expected(const Candidate& candidate) const {
    const auto known = offs_.find(off_key_of(candidate.strategy));
    return known == offs_.end() ? candidate.bound.step
                                : candidate.bound.step * known->second.mean();
  }

  /// Candidates that are expected to be the fastest.
  std::vector<Candidate> take_promising(std::size_t most) {
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < candidates_.size(); ++place)
      if (!best() || candidates_[place].bound.step < *best()) places.push_back(place);
    return take_expected(places, most);
  }

  std::vector<Candidate> take_expected(const std::vector<std::size_t>& places, std::size_t most) {
    std::vector<std::tuple<Seconds, std::int64_t, std::size_t>> ordered;
    ordered.reserve(places.size());
    for (const std::size_t place : places)
      ordered.emplace_back(expected(candidates_[place]), candidates_[place].number, place);
    const std::size_t looks = std::min(ordered.size(), kLooks * most);
    std::ranges::partial_sort(ordered, ordered.begin() + static_cast<std::ptrdiff_t>(looks));
    std::vector<std::size_t> first;
    for (std::size_t i = 0; i < looks; ++i) first.push_back(std::get<std::size_t>(ordered[i]));
    return take_at(first, most);
  }

  /// The candidate with the lowest bound of each family that was tried least.
  std::vector<Candidate> take_families(std::size_t most) {
    std::map<Family, std::size_t> lowest;
    for (std::size_t place = 0; place < candidates_.size(); ++place) {
      const Candidate& candidate = candidates_[place];
      if (best() && candidate.bound.step >= *best()) continue;
      const auto [known, is_new] = lowest.emplace(family_of(candidate.strategy), place);
      if (!is_new && comes_before(candidate, candidates_[known->second])) known->second = place;
    }
    std::vector<std::size_t> places;
    for (const auto& [family, place] : lowest) places.push_back(place);
    std::ranges::sort(places, [&](std::size_t a, std::size_t b) {
      const Candidate &first = candidates_[a], &second = candidates_[b];
      return std::tuple(tries_of_[family_of(first.strategy)], first.bound.step, first.number) <
             std::tuple(tries_of_[family_of(second.strategy)], second.bound.step, second.number);
    });
    return take_at(places, most);
  }

  /// Candidates next to the best strategy that may be faster, the most promising first.
  std::vector<Candidate> take_neighbours(std::size_t most) {
    if (result_.ranked.empty() || most == 0) return {};
    const Strategy& known = result_.ranked.front().strategy;
    std::vector<std::size_t> near;
    for (std::size_t place = 0; place < candidates_.size(); ++place) {
      const Candidate& candidate = candidates_[place];
      if (candidate.bound.step < *best() && distance(candidate.strategy, known) <= kNearest)
        near.push_back(place);
    }
    return take_expected(near, most);
  }

  /// Takes the first candidates at these places that may be faster than the best by their closer
  /// bounds.
  std::vector<Candidate> take_at(const std::vector<std::size_t>& places, std::size_t most) {
    std::vector<Candidate> taken;
    std::vector<std::size_t> gone;
    std::size_t looked = 0;
    for (const std::size_t place : places) {
      if (taken.size() == most || ++looked > kLooks * most) break;
      Candidate& candidate = candidates_[place];
      refine(candidate);
      if (best() && candidate.bound.step >= *best()) continue;
      taken.push_back(candidate);
      gone.push_back(place);
    }
    std::ranges::sort(gone, std::greater{});
    for (const std::size_t place : gone) {
      candidates_[place] = candidates_.back();
      candidates_.pop_back();
    }
    std::ranges::make_heap(candidates_, comes_after);
    return taken;
  }

  void refine(Candidate& candidate) {
    if (candidate.is_refined) return;
    candidate.bound.step = std::max(candidate.bound.step, bounds_.refined(candidate.strategy).step);
    candidate.is_refined = true;
  }

  bool simulate_batch() {
    std::vector<TriedStrategy> batch = next_batch();
    if (batch.empty()) return true;  // closer bounds have ruled out what was left
    batch_ = std::min(2 * batch_, kLargestBatch);
    return simulate_all(batch);
  }

  bool simulate_all(std::vector<TriedStrategy>& batch) {
    const auto outcomes = simulate_(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (!outcomes[i]) {
        result_.end = is_interrupted() ? SearchEnd::interrupted : SearchEnd::expired;
        leave(batch[i].bound.step);
        continue;
      }
      ++tries_;
      ++tries_of_[family_of(batch[i].strategy)];
      batch[i].outcome = *outcomes[i];
      note(batch[i]);
    }
    std::ranges::stable_sort(result_.ranked, [](const TriedStrategy& a, const TriedStrategy& b) {
      return a.outcome.step < b.outcome.step;
    });
    say();
    return result_.end == SearchEnd::complete;
  }

  void note(const TriedStrategy& tried) {
    if (!tried.outcome.refusal.empty()) {
      ++counts().refused;
      if (result_.refusal.empty()) result_.refusal = tried.outcome.refusal;
    } else if (!tried.outcome.failure.empty()) {
      ++counts().failed;
      counts().defects += tried.outcome.is_defect ? 1 : 0;
      if (!result_.failed) result_.failed = tried;
      if (tried.outcome.is_open) open_.push_back(tried.bound.step);
    } else if (!tried.outcome.fits) {
      ++counts().no_memory;
      keep_smallest(tried);
    } else {
      ++counts().simulated;
      if (tried.outcome.step < tried.bound.step * (1 - kRounding)) ++counts().below_bound;
      offs_[off_key_of(tried.strategy)].add(tried.outcome.step / tried.bound.step);
      result_.ranked.push_back(tried);
    }
    if (tried.strategy.recompute == Recompute::none) settle(tried);
  }

  /// What waited for the strategy is no faster where that fits, and a candidate where it does not.
  void settle(const TriedStrategy& plain) {
    const auto waited = deferred_.take(plain.strategy);
    if (plain.outcome.ran()) {
      counts().pruned += static_cast<std::int64_t>(waited.size());
      return;
    }
    for (const DeferredSets::Waiting& one : waited) {
      candidates_.push_back({one.bound, number_++, one.strategy});
      std::ranges::push_heap(candidates_, comes_after);
    }
  }

  void count_rest() {
    const auto count = [&](Seconds bound) {
      if (!best() || bound < *best()) return leave(bound);
      ++counts().pruned;
    };
    std::map<std::int64_t, Seconds> bounds;
    for (const Candidate& candidate : candidates_) {
      count(candidate.bound.step);
      bounds[candidate.number] = candidate.bound.step;
    }
    // What they wait for takes no longer, and its bound may be a closer one.
    for (const DeferredSets::Waiting& one : deferred_.waiting()) {
      const auto plain = bounds.find(one.plain);
      count(std::max(one.bound.step, plain == bounds.end() ? least_dropped_ : plain->second));
    }
    if (best() && least_dropped_ >= *best()) {
      counts().pruned += dropped_;
    } else if (dropped_ > 0) {
      counts().left += dropped_;
      result_.least_left = std::min(result_.least_left, least_dropped_);
    }
  }

  /// Strategies that failed might have been the best, where their bounds do not say otherwise.
  void count_open() {
    for (const Seconds bound : open_) counts().open += !best() || bound < *best() ? 1 : 0;
    result_.counts = counts_;
  }

  void leave(Seconds bound) {
    ++counts().left;
    result_.least_left = std::min(result_.least_left, bound);
  }

  /// The half with the higher bounds goes; it is not the best, unless something is very wrong.
  void drop_half() {
    const auto middle = candidates_.begin() + static_cast<std::ptrdiff_t>(candidates_.size() / 2);
    std::nth_element(candidates_.begin(), middle, candidates_.end(), comes_before);
    least_dropped_ = std::min(least_dropped_, middle->bound.step);
    dropped_ += candidates_.end() - middle;
    candidates_.erase(middle, candidates_.end());
  }

  void say() const {
    if (on_progress_) on_progress_({counts_.considered, counts_.simulated, best()});
  }

  SearchCounts& counts() { return counts_; }

  const Axes& axes_;
  const SearchBase& base_;
  const SearchLimits& limits_;
  const SimulateStrategies& simulate_;
  const std::function<void(const SearchProgress&)>& on_progress_;
  SearchCounts counts_;
  SearchOutcome result_;
  std::vector<Candidate> candidates_;
  std::vector<Seconds> open_;         ///< bounds of those that failed and might have an answer
  bool own_is_exact_ = false;         ///< a strategy can say all of it
  std::vector<TriedStrategy> usual_;  ///< were simulated before the others were bounded
  DeferredSets deferred_;
  Bounds bounds_;
  std::size_t batch_ = kFirstBatch;
  std::int64_t dropped_ = 0;
  Seconds least_dropped_{std::numeric_limits<double>::infinity()};
  std::int64_t tries_ = 0;
  std::map<Family, std::int64_t> tries_of_;
  std::map<OffKey, Off> offs_;
  std::int64_t number_ = 0, said_ = 0;
};

}  // namespace

SearchOutcome search(const Axes& axes, const SearchBase& base, const SearchLimits& limits,
                     const SimulateStrategies& simulate,
                     const std::function<void(const SearchProgress&)>& on_progress) {
  return Search(axes, base, limits, simulate, on_progress).run();
}

}  // namespace stepsim
