// Compares values; the words are elsewhere (comparison_words.cpp).
#include "sim/report/measure/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/report/measure/statistics.hpp"

namespace stepsim {
namespace {

/// The relative difference up to which values are equal: twelve digits of a result (digits.hpp),
/// with room for their products.
constexpr double kSame = 1e-9;

using Values = std::vector<std::optional<std::string>>;

bool is_same(const Values& values) {
  return std::ranges::all_of(values, [&](const auto& value) { return value == values.front(); });
}

/// The keys of all runs, each behind the key that it follows in the first scenario that has it.
std::vector<std::string> keys_in_order(const std::vector<Contender>& runs) {
  std::vector<std::string> order;
  std::set<std::string> known;
  for (const Contender& run : runs) {
    auto behind = order.begin();
    for (const ComparedKey& key : run.keys) {
      if (known.insert(key.key).second) {
        behind = order.insert(behind, key.key) + 1;
      } else {
        behind = std::ranges::find(order, key.key) + 1;
      }
    }
  }
  return order;
}

std::optional<std::string> value_of(const Contender& run, const std::string& key) {
  for (const ComparedKey& candidate : run.keys)
    if (candidate.key == key) return candidate.value;
  return std::nullopt;
}

/// Keys that differ between the runs whose keys are known.
std::vector<InputDifference> input_differences(const std::vector<Contender>& runs) {
  std::vector<InputDifference> differences;
  for (const std::string& key : keys_in_order(runs)) {
    Values known, all;
    for (const Contender& run : runs) {
      all.push_back(value_of(run, key));
      if (!run.keys.empty()) known.push_back(all.back());
    }
    if (!is_same(known)) differences.push_back({key, all});
  }
  return differences;
}

std::optional<std::string> hash_of(const Contender& run, const std::string& what) {
  for (const auto& [name, hash] : run.result.hashes)
    if (name == what) return hash;
  return std::nullopt;
}

/// Profiles of one name that differ between two runs. Scenarios are told apart by their keys,
/// unless the keys of one are not known.
std::vector<InputDifference> hash_differences(const std::vector<Contender>& runs) {
  const bool by_hash =
      std::ranges::any_of(runs, [](const Contender& run) { return run.keys.empty(); });
  std::vector<std::string> names;
  for (const Contender& run : runs)
    for (const auto& [name, hash] : run.result.hashes)
      if ((name != "scenario" || by_hash) && std::ranges::find(names, name) == names.end())
        names.push_back(name);
  std::vector<InputDifference> differences;
  for (const std::string& name : names) {
    Values known, all;
    for (const Contender& run : runs) {
      all.push_back(hash_of(run, name));
      if (all.back()) known.push_back(all.back());
    }
    if (!is_same(known)) differences.push_back({name, all});
  }
  Values versions;
  for (const Contender& run : runs) versions.emplace_back(run.result.version);
  if (!is_same(versions)) differences.push_back({"stepsim", versions});
  return differences;
}

/// How many steps of `other` do the work of one step of `first`: 1 where the steps are alike, or
/// not of one kind.
double scale_of(const ResultFacts& first, const ResultFacts& other) {
  if (first.tokens_per_s.has_value() != other.tokens_per_s.has_value()) return 1;
  const auto work = [](const ResultFacts& of) {
    return of.tokens_per_s.value_or(of.samples_per_s) * of.step_time.seconds();
  };
  const double scale = work(first) / work(other);
  return !std::isfinite(scale) || std::abs(scale - 1) < kSame ? 1 : scale;
}

std::vector<CauseDifference> cause_differences(const ResultFacts& first, const ResultFacts& other,
                                               double scale) {
  std::vector<CauseDifference> causes;
  for (const auto& [name, seconds] : first.causes) causes.push_back({name, seconds, Seconds{}});
  for (const auto& [name, seconds] : other.causes) {
    const auto named = [&name = name](const CauseDifference& c) { return c.cause == name; };
    auto found = std::ranges::find_if(causes, named);
    if (found == causes.end()) found = causes.insert(found, {name, Seconds{}, Seconds{}});
    found->now = seconds * scale;
  }
  std::ranges::stable_sort(causes, [](const CauseDifference& a, const CauseDifference& b) {
    return std::abs(a.difference().seconds()) > std::abs(b.difference().seconds());
  });
  return causes;
}

/// The sample of a result's steps. Where another result has several replicas, a single run is a
/// sample of one.
std::vector<Seconds> sample_of(const ResultFacts& result, double scale) {
  std::vector<Seconds> sample = result.replicas;
  if (sample.empty()) sample.push_back(result.step_time);
  for (Seconds& step : sample) step = step * scale;
  return sample;
}

std::optional<PairErrors> pairs_of(const ResultFacts& first, const ResultFacts& other,
                                   const std::vector<RecordedRuns>& measured) {
  if (!first.expected_error || !other.expected_error) return std::nullopt;
  return pair_errors(first.expected_error->kind, other.expected_error->kind, measured);
}

Difference difference_of(const ResultFacts& first, const ResultFacts& other,
                         const std::vector<RecordedRuns>& measured) {
  Difference difference{.scale = scale_of(first, other)};
  difference.before = first.mean();
  difference.now = other.mean() * difference.scale;
  difference.causes = cause_differences(first, other, difference.scale);
  difference.test = welch(sample_of(first, 1), sample_of(other, difference.scale));
  difference.pairs = pairs_of(first, other, measured);
  return difference;
}

}  // namespace

Seconds ResultFacts::mean() const {
  return replicas.empty() ? step_time : statistics_of(replicas).mean;
}

Seconds Difference::of_causes() const {
  Seconds sum{};
  for (const CauseDifference& cause : causes) sum += cause.difference();
  return sum;
}

BaselineJudgement judge_baseline(const Comparison& c, double tolerance) {
  const Difference& d = c.differences.front();
  BaselineJudgement judgement{.tolerance = tolerance};
  const double limit = tolerance + kSame;
  const bool counts = !d.test || d.test->is_significant();
  judgement.is_slower = counts && d.fraction() > limit;
  judgement.is_faster = counts && d.fraction() < -limit;
  const auto &before = c.runs[0].result.memory, &now = c.runs[1].result.memory;
  if (!before || !now) return judgement;
  const double more = now->peak / before->peak - 1;
  judgement.needs_more = more > limit;
  judgement.needs_less = more < -limit;
  judgement.fits_no_more = before->fits && !now->fits;
  return judgement;
}

std::string label_of(std::size_t index) { return std::string(1, static_cast<char>('A' + index)); }

Comparison compare(std::vector<Contender> runs, const std::vector<RecordedRuns>& measured) {
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].label = label_of(i);
  Comparison comparison;
  comparison.inputs = input_differences(runs);
  comparison.hashes = hash_differences(runs);
  for (std::size_t i = 1; i < runs.size(); ++i)
    comparison.differences.push_back(difference_of(runs.front().result, runs[i].result, measured));
  comparison.runs = std::move(runs);
  return comparison;
}

}  // namespace stepsim
