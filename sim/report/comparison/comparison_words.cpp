// Says in sentences what a comparison shows.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/comparison/comparison_report.hpp"
#include "sim/text/error_words.hpp"
#include "sim/text/humanise.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {
namespace {

constexpr double kSame = 1e-9;    // relative difference up to which the digits of results are equal
constexpr double kMost = 0.5;     // a cause with this share of a difference explains it alone
constexpr double kNotable = 0.2;  // a cause that goes the other way is said from this share on

std::string p_text(double p) { return p < 1e-4 ? "p < 0.0001" : fmt::format("p = {:.2g}", p); }

/// The numbers of replicas: "20 replicas", "1 and 20 replicas".
std::string replicas_text(const Welch& test) {
  if (test.first == test.second) return fmt::format("{} replicas", test.first);
  return fmt::format("{} and {} replicas", test.first, test.second);
}

/// A change in words: "is 3.1 % faster"; "takes 2.62 times as long", for 162 % slower is hard to
/// picture.
std::string comparative(double fraction) {
  if (fraction >= 1) return fmt::format("takes {} times as long", three_digits(1 + fraction));
  return fmt::format("is {} {}", percent(std::abs(fraction)), fraction < 0 ? "faster" : "slower");
}

/// A cause in words: "less waiting for kernel launches (-11.5 ms)".
std::string cause_text(const CauseDifference& cause, const Column& column) {
  const double seconds = cause.difference().seconds();
  return fmt::format("{} {} ({}{})", seconds < 0 ? "less" : "more", title_of_cause(cause.cause),
                     seconds < 0 ? "-" : "+", column.text(std::abs(seconds)));
}

/// The reasons of a difference: "mostly less forward (-1 ms)", and the causes that go the other
/// way.
std::string reasons_text(const Difference& difference, const Column& column) {
  const double total = difference.of_causes().seconds();
  // The middle replicas need not differ in the direction in which the means do.
  if (total == 0 || (total < 0) != (difference.now < difference.before)) return "";
  std::vector<std::string> with, against;
  double explained = 0;
  for (const CauseDifference& cause : difference.causes) {
    const double share = cause.difference().seconds() / total;
    if (share > 0 && explained < kMost) {
      with.push_back(cause_text(cause, column));
      explained += share;
    } else if (share < -kNotable) {
      against.push_back(cause_text(cause, column));
    }
  }
  std::string text;
  if (!with.empty()) text = fmt::format("; mostly {}", fmt::join(with, ", "));
  if (!against.empty()) text += fmt::format("; but {}", fmt::join(against, ", "));
  return text;
}

/// Both steps: "16.20 ms a step, not 28.06 ms".
std::string times_text(const Comparison& c, const Difference& d, const Column& column) {
  const std::string now = column.text(d.now.seconds()), before = column.text(d.before.seconds());
  if (d.scale == 1) return fmt::format("{} a step, not {}", now, before);
  const bool tokens = c.runs.front().result.tokens_per_s.has_value();
  return fmt::format("{}, not {}, for as many {} as a step of A has", now, before,
                     tokens ? "tokens" : "samples");
}

std::string undecided_text(const std::string& label, const Difference& d) {
  const Welch& test = *d.test;
  return fmt::format(
      "no difference that {} can show: {} {} ({}); they would show {} four times in five",
      replicas_text(test), label, comparative(d.fraction()), p_text(test.p),
      percent(test.visible / d.before));
}

Remark remark_of(const Comparison& c, std::size_t i) {
  const Difference& d = c.differences[i - 1];
  const std::string& label = c.runs[i].label;
  const Column column = column_for(std::max(d.before, d.now));
  if (std::abs(d.fraction()) < kSame)
    return {label, fmt::format("{} takes as long as A: {}", label,
                               d.scale == 1 ? column.text(d.now.seconds()) + " a step"
                                            : times_text(c, d, column))};
  if (d.test && !d.test->is_significant()) return {label, undecided_text(label, d)};
  const std::string significant =
      d.test ? fmt::format(", significant ({}, {})", p_text(d.test->p), replicas_text(*d.test))
             : "";
  return {label,
          fmt::format("{} {}{}: {}{}", label, comparative(d.fraction()), significant,
                      times_text(c, d, column), reasons_text(d, column)),
          d.fraction() < 0 ? Remark::Tone::good : Remark::Tone::bad};
}

/// A list of labels: "A, B and C".
std::string all_of(const std::vector<std::string>& labels) {
  if (labels.size() == 1) return labels.front();
  const std::vector<std::string> front(labels.begin(), labels.end() - 1);
  return fmt::format("{} and {}", fmt::join(front, ", "), labels.back());
}

void add_memory(const Comparison& c, std::vector<Remark>& remarks) {
  std::vector<std::string> too_large;
  for (const Contender& run : c.runs)
    if (run.result.memory && !run.result.memory->fits) too_large.push_back(run.label);
  if (too_large.empty()) return;
  const bool one = too_large.size() == 1;
  remarks.push_back({"Memory",
                     fmt::format("{} {} not fit in memory: {} would be {} if {} did",
                                 all_of(too_large), one ? "does" : "do", one ? "this" : "these",
                                 one ? "its time" : "their times", one ? "it" : "they"),
                     Remark::Tone::bad});
}

/// Runs whose differences are judged by the same pairs of measured runs.
struct SamePairs {
  const PairErrors* pairs;
  /// what the pairs say of each run: "as that of B had the right sign in 81 % of them"
  std::vector<std::string> shares;
};

std::vector<SamePairs> by_pairs(const Comparison& c, const std::vector<std::size_t>& runs) {
  std::vector<SamePairs> groups;
  for (const std::size_t i : runs) {
    const Difference& d = c.differences[i - 1];
    if (!d.pairs) continue;
    const auto is_same = [&](const SamePairs& group) {
      return group.pairs->ratios == d.pairs->ratios;
    };
    auto group = std::ranges::find_if(groups, is_same);
    if (group == groups.end()) group = groups.insert(groups.end(), {&*d.pairs, {}});
    const char* what = group->shares.empty() ? " had the right sign" : "";
    const char* of_them = group->shares.empty() ? " of them" : "";
    group->shares.push_back(fmt::format("as that of {}{} in {:.0f} %{}", c.runs[i].label, what,
                                        100 * d.pairs->in_order(d.now / d.before), of_them));
  }
  return groups;
}

/// How far the differences of a group can be believed.
std::string pairs_text(const SamePairs& group) {
  return fmt::format(
      "in pairs of measured runs like these, both of one source, the predicted ratio of the steps "
      "was off by {} in the median; a difference predicted {} ({} pairs of {} suites of equal "
      "weight)",
      error_text(group.pairs->median), fmt::join(group.shares, ", "), grouped(group.pairs->pairs),
      group.pairs->suites);
}

/// What is said, for want of pairs, of a difference that is smaller than steps are usually off by.
std::string errors_text(const Comparison& c, std::size_t i, double median) {
  return fmt::format(
      "{} differs from A by less than steps are usually off by ({}, median of measured runs like "
      "these); there are too few pairs of such runs to say how well a difference is known",
      c.runs[i].label, error_text(median));
}

void add_error(const Comparison& c, std::vector<Remark>& remarks) {
  const auto median_of = [](const Contender& run) {
    return run.result.expected_error ? run.result.expected_error->median : 0;
  };
  std::vector<std::size_t> apart;
  for (std::size_t i = 1; i < c.runs.size(); ++i) {
    const Difference& d = c.differences[i - 1];
    const bool is_shown = !d.test || d.test->is_significant();
    if (std::abs(d.fraction()) >= kSame && is_shown) apart.push_back(i);
  }
  for (const SamePairs& group : by_pairs(c, apart))
    remarks.push_back({"Likely error", pairs_text(group)});
  for (const std::size_t i : apart) {
    const double median = std::max(median_of(c.runs.front()), median_of(c.runs[i]));
    if (!c.differences[i - 1].pairs && std::abs(c.differences[i - 1].fraction()) < median)
      remarks.push_back({"Likely error", errors_text(c, i, median)});
  }
}

/// Adds which runs' steps do not do the same kind of work as the first one's.
void add_work(const Comparison& c, std::vector<Remark>& remarks) {
  std::vector<std::string> others;
  const bool tokens = c.runs.front().result.tokens_per_s.has_value();
  for (const Contender& run : c.runs)
    if (run.result.tokens_per_s.has_value() != tokens) others.push_back(run.label);
  if (others.empty()) return;
  remarks.push_back(
      {"Work",
       fmt::format("A trains on {}, {} on {}: steps are compared as they are",
                   tokens ? "tokens" : "samples", all_of(others), tokens ? "samples" : "tokens"),
       Remark::Tone::bad});
}

/// Adds what is not known about the inputs, or cannot be compared.
void add_inputs(const Comparison& c, std::vector<Remark>& remarks) {
  if (c.inputs.empty() && c.hashes.empty()) {
    remarks.push_back({"Input", "no input differs"});
    return;
  }
  std::vector<std::string> unknown;
  for (const Contender& run : c.runs)
    if (run.keys.empty()) unknown.push_back(run.label);
  if (unknown.empty()) return;
  remarks.push_back(
      {"Input", fmt::format("the result of an earlier version does not hold its scenario: of {} "
                            "hashes alone are known",
                            all_of(unknown))});
}

void add_baseline(const Comparison& c, std::vector<Remark>& remarks) {
  if (!c.baseline) return;
  const BaselineJudgement& judgement = *c.baseline;
  const Difference& d = c.differences.front();
  std::vector<std::string> worse;
  if (judgement.is_slower)
    worse.push_back(fmt::format("the step takes {} longer", percent(d.fraction())));
  if (judgement.needs_more)
    worse.push_back(
        fmt::format("a GPU needs {} more memory",
                    percent(c.runs[1].result.memory->peak / c.runs[0].result.memory->peak - 1)));
  if (judgement.fits_no_more) worse.emplace_back("it does not fit in memory any more");
  const std::string tolerance = fmt::format("the tolerance of {}", percent(judgement.tolerance));
  if (!worse.empty()) {
    remarks.push_back({"Baseline",
                       fmt::format("worse than {}: {}", tolerance, fmt::join(worse, ", ")),
                       Remark::Tone::bad});
  } else if (judgement.has_improved()) {
    remarks.push_back({"Baseline", "better by more than " + tolerance, Remark::Tone::good});
  } else {
    remarks.push_back({"Baseline", "within " + tolerance, Remark::Tone::good});
  }
}

}  // namespace

std::string title_of_cause(const std::string& name) {
  for (std::size_t i = 0; i < kCauses; ++i)
    if (name == name_of(static_cast<Cause>(i))) return title_of(static_cast<Cause>(i));
  return name;
}

std::string origin_of(const Comparison& c, std::size_t i) {
  const Contender& run = c.runs[i];
  if (!run.changes.empty()) return fmt::format("A with {}", fmt::join(run.changes, ", "));
  const std::string settings =
      run.settings.empty() ? "" : fmt::format(" with {}", fmt::join(run.settings, ", "));
  return fmt::format("{}, {}{}{}", run.result.scenario, run.is_result ? "result in " : "", run.file,
                     settings);
}

std::vector<Remark> remarks_on(const Comparison& c) {
  std::vector<Remark> remarks;
  for (std::size_t i = 1; i < c.runs.size(); ++i) remarks.push_back(remark_of(c, i));
  add_work(c, remarks);
  add_memory(c, remarks);
  add_baseline(c, remarks);
  add_error(c, remarks);
  add_inputs(c, remarks);
  return remarks;
}

}  // namespace stepsim
