// Makes the tables of a comparison, as texts.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "sim/report/comparison/comparison_report.hpp"
#include "sim/report/measure/cost.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

constexpr double kSmall = 0.0005;       // share of a step: less prints as 0.0 %
constexpr std::size_t kHashDigits = 8;  // digits of 16, enough to tell two hashes apart

using Values = std::vector<std::optional<double>>;
using ValueOf = std::function<std::optional<double>(const ResultFacts&)>;
using TextOf = std::function<std::string(double)>;

enum class Better { less, more, neither };

std::vector<std::string> labels_of(const Comparison& c) {
  std::vector<std::string> labels;
  for (const Contender& run : c.runs) labels.push_back(run.label);
  return labels;
}

bool is_pair(const Comparison& c) { return c.runs.size() == 2; }

/// A difference with its sign: "+1.5 ms"; without a sign where it rounds to nothing.
std::string with_sign(double value, const TextOf& text) {
  const std::string magnitude = text(std::abs(value));
  return magnitude == text(0) ? magnitude : (value < 0 ? "-" : "+") + magnitude;
}

std::string points(double fraction) { return fmt::format("{:.1f} points", 100 * fraction); }

std::string signed_percent(double fraction) { return with_sign(fraction, percent); }

/// The rows of the answer table.
class AnswerRows {
 public:
  explicit AnswerRows(const Comparison& comparison) : c_(comparison) {}

  /// Adds a row of a number that all or some of the runs have.
  void add(const std::string& title, const Values& values, Better better, const TextOf& text,
           const TextOf& difference = {}) {
    TextRow row{.title = title, .cells = {}, .best = best_of(values, better)};
    for (const auto& value : values) row.cells.push_back(value ? text(*value) : "");
    if (is_pair(c_)) add_difference(row, values, difference ? difference : text);
    rows_.push_back(std::move(row));
  }
  void add_words(const std::string& title, std::vector<std::string> words) {
    if (is_pair(c_)) words.resize(words.size() + 2);
    rows_.push_back({.title = title, .cells = std::move(words), .is_words = true});
  }

  Values values(const ValueOf& of) const {
    Values values;
    for (const Contender& run : c_.runs) values.push_back(of(run.result));
    return values;
  }

  std::vector<TextRow> take() { return std::move(rows_); }

 private:
  /// The best of the runs that fit in memory; where none fits, of all.
  int best_of(const Values& values, Better better) const {
    if (better == Better::neither) return -1;
    int best = -1;
    bool all_alike = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i]) return -1;
      all_alike = all_alike && *values[i] == *values.front();
      if (!may_win(i)) continue;
      const auto so_far = static_cast<std::size_t>(best);
      const bool wins = best < 0 || (better == Better::less ? *values[i] < *values[so_far]
                                                            : *values[i] > *values[so_far]);
      if (wins) best = static_cast<int>(i);
    }
    return all_alike ? -1 : best;
  }
  bool may_win(std::size_t i) const {
    const auto fits = [](const Contender& run) {
      return !run.result.memory || run.result.memory->fits;
    };
    return fits(c_.runs[i]) || std::ranges::none_of(c_.runs, fits);
  }

  static void add_difference(TextRow& row, const Values& values, const TextOf& text) {
    if (!values[0] || !values[1]) {
      row.cells.resize(row.cells.size() + 2);
      return;
    }
    const double difference = *values[1] - *values[0];
    const bool none = difference == 0;
    row.cells.push_back(none ? "" : with_sign(difference, text));
    row.cells.push_back(none || *values[0] == 0 ? "" : signed_percent(difference / *values[0]));
  }

  const Comparison& c_;
  std::vector<TextRow> rows_;
};

bool differ(const Values& values) {
  return std::ranges::any_of(values, [&](const auto& value) { return value != values.front(); });
}

bool any_of(const Values& values) {
  return std::ranges::any_of(values, [](const auto& v) { return v.has_value(); });
}

double largest(const Values& values) {
  double most = 0;
  for (const auto& value : values) most = std::max(most, value.value_or(0));
  return most;
}

/// Adds the step, the mean of replicas, and the time for equal work where steps differ in work.
void add_times(const Comparison& c, AnswerRows& rows) {
  const Values steps = rows.values([](const ResultFacts& r) { return r.step_time.seconds(); });
  Values means = rows.values([](const ResultFacts& r) {
    return r.replicas.empty() ? std::nullopt : std::optional(r.mean().seconds());
  });
  Values work{c.differences.front().before.seconds()};
  for (const Difference& difference : c.differences) work.push_back(difference.now.seconds());
  const bool same_work =
      std::ranges::all_of(c.differences, [](const Difference& d) { return d.scale == 1; });
  const Column column = column_for(Seconds{std::max(largest(steps), largest(work))});
  const auto text = [&](double seconds) { return column.text(seconds); };
  const bool replicas = any_of(means);
  rows.add(replicas ? "Step time, middle replica" : "Step time", steps,
           same_work && !replicas ? Better::less : Better::neither, text);
  if (replicas)
    rows.add("Mean of replicas", means, same_work ? Better::less : Better::neither, text);
  if (!same_work) rows.add("Time for as much work", work, Better::less, text);
}

void add_rates(const Comparison& c, AnswerRows& rows) {
  const bool tokens = std::ranges::all_of(
      c.runs, [](const Contender& run) { return run.result.tokens_per_s.has_value(); });
  const std::string unit = tokens ? "Tokens/s" : "Samples/s";
  const auto text = [](double rate) {
    const Figure figure = humanise(rate, "");
    return figure.unit.empty() ? figure.number : figure.number + " " + figure.unit.substr(0, 1);
  };
  const ValueOf rate = [tokens](const ResultFacts& r) {
    return tokens ? r.tokens_per_s : std::optional(r.samples_per_s);
  };
  rows.add(unit, rows.values(rate), Better::more, text);
  const Values gpus =
      rows.values([](const ResultFacts& r) { return std::optional<double>(r.gpus); });
  if (!differ(gpus)) return;
  rows.add("GPUs", gpus, Better::neither,
           [](double n) { return grouped(static_cast<std::int64_t>(n)); });
  rows.add(unit + " of a GPU", rows.values([&](const ResultFacts& r) -> std::optional<double> {
    const auto all = rate(r);
    return all && r.gpus ? std::optional(*all / *r.gpus) : std::nullopt;
  }),
           Better::more, text);
}

void add_utilisation(const Comparison& c, AnswerRows& rows) {
  const Values mfu = rows.values([](const ResultFacts& r) { return std::optional(r.mfu); });
  const Values hfu = rows.values([](const ResultFacts& r) { return std::optional(r.hfu); });
  const bool one_convention = std::ranges::all_of(c.runs, [&](const Contender& run) {
    return run.result.flop_convention == c.runs.front().result.flop_convention;
  });
  rows.add(one_convention ? "MFU" : "MFU, of different FLOPs", mfu,
           one_convention ? Better::more : Better::neither, percent, points);
  if (hfu != mfu) rows.add("HFU", hfu, Better::neither, percent, points);
}

void add_memory(const Comparison& c, AnswerRows& rows) {
  const Values peaks = rows.values([](const ResultFacts& r) {
    return r.memory ? std::optional(r.memory->peak.bytes()) : std::nullopt;
  });
  if (!any_of(peaks)) return;
  const Column column = column_for(Bytes{largest(peaks)});
  rows.add("Peak memory of a GPU", peaks, Better::neither,
           [&](double bytes) { return column.text(bytes); });
  std::vector<std::string> words;
  bool all_fit = true;
  for (const Contender& run : c.runs) {
    const auto& memory = run.result.memory;
    words.push_back(!memory ? "" : memory->fits ? "yes" : "no");
    all_fit = all_fit && memory && memory->fits;
  }
  if (!all_fit) rows.add_words("Fits", words);
}

void add_cost(AnswerRows& rows) {
  const Values tokens = rows.values(
      [](const ResultFacts& r) { return r.cost ? r.cost->per_million_tokens : std::nullopt; });
  const Values samples = rows.values([](const ResultFacts& r) {
    return r.cost ? std::optional(r.cost->per_million_samples) : std::nullopt;
  });
  if (any_of(tokens)) {
    rows.add("Cost of a million tokens", tokens, Better::less, dollars);
  } else if (any_of(samples)) {
    rows.add("Cost of a million samples", samples, Better::less, dollars);
  }
}

/// Adds the words that verdicts begin with: "compute-bound".
void add_verdicts(const Comparison& c, AnswerRows& rows) {
  std::vector<std::string> words;
  for (const Contender& run : c.runs)
    words.push_back(run.result.verdict.substr(0, run.result.verdict.find(':')));
  const auto is_first = [&](const std::string& word) { return word == words.front(); };
  if (!std::ranges::all_of(words, is_first)) rows.add_words("Verdict", words);
}

/// The values of a key: "-" where a run has no such key, "?" where its keys are not known.
std::vector<std::string> key_texts(const Comparison& c, const InputDifference& difference) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < c.runs.size(); ++i)
    texts.push_back(c.runs[i].keys.empty() ? "?" : difference.values[i].value_or("-"));
  return texts;
}

std::vector<std::string> hash_texts(const InputDifference& difference) {
  std::vector<std::string> texts;
  for (const auto& value : difference.values)
    texts.push_back(value.value_or("-").substr(0, kHashDigits));
  return texts;
}

TextRow hash_row(const InputDifference& difference) {
  if (difference.key != "stepsim") return {"hash of " + difference.key, hash_texts(difference)};
  TextRow row{"version of stepsim", {}};
  for (const auto& version : difference.values) row.cells.push_back(version.value_or("-"));
  return row;
}

/// The names of the part that a key belongs to ("model" for "model.layers"), where the part's names
/// differ.
const InputDifference* names_of_part(const Comparison& c, const std::string& key) {
  for (const std::string part : {"model", "cluster"}) {
    if (!key.starts_with(part + ".")) continue;
    for (const InputDifference& difference : c.inputs)
      if (difference.key == part + ".name") return &difference;
  }
  return nullptr;
}

/// Whether a key differs between two runs whose part has one name, so that the name does not say
/// it.
bool differs_in_one_name(const Comparison& c, const InputDifference& names,
                         const InputDifference& difference) {
  for (std::size_t i = 0; i < c.runs.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const bool known = !c.runs[i].keys.empty() && !c.runs[k].keys.empty();
      if (known && names.values[i] == names.values[k] &&
          difference.values[i] != difference.values[k])
        return true;
    }
  }
  return false;
}

class CauseRows {
 public:
  explicit CauseRows(const Comparison& comparison) : c_(comparison), column_(column_of()) {}

  std::vector<TextRow> rows() {
    std::vector<Seconds> rest(c_.runs.size());
    std::vector<TextRow> rows;
    for (const std::string& name : order()) {
      const std::vector<Seconds> values = values_of(name);
      if (is_small(values)) {
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] += values[i];
      } else {
        rows.push_back(row(title_of_cause(name), values));
      }
    }
    if (std::ranges::any_of(rest, [](Seconds s) { return s != Seconds{}; }))
      rows.push_back(row("causes that hardly differ", rest));
    const bool same_work =
        std::ranges::all_of(c_.differences, [](const Difference& d) { return d.scale == 1; });
    rows.push_back(row(same_work ? "step" : "step, or as much work", sums()));
    rows.back().is_sum = true;
    return rows;
  }

 private:
  Column column_of() const {
    Seconds most = c_.runs.front().result.step_time;
    for (std::size_t i = 1; i < c_.runs.size(); ++i)
      most = std::max(most, c_.runs[i].result.step_time * c_.differences[i - 1].scale);
    return column_for(most);
  }

  /// The names of the causes, ordered by the largest difference of any run.
  std::vector<std::string> order() const {
    std::vector<std::pair<double, std::string>> named;
    for (const Difference& difference : c_.differences) {
      for (const CauseDifference& cause : difference.causes) {
        const double apart = std::abs(cause.difference().seconds());
        const auto is = [&](const auto& other) { return other.second == cause.cause; };
        const auto found = std::ranges::find_if(named, is);
        if (found == named.end()) {
          named.emplace_back(apart, cause.cause);
        } else {
          found->first = std::max(found->first, apart);
        }
      }
    }
    std::ranges::stable_sort(named, [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> names;
    for (const auto& [apart, name] : named) names.push_back(name);
    return names;
  }

  /// The seconds of a cause in the first run, and in the others for the work of the first.
  std::vector<Seconds> values_of(const std::string& name) const {
    std::vector<Seconds> values(c_.runs.size());
    for (std::size_t i = 0; i < c_.differences.size(); ++i) {
      for (const CauseDifference& cause : c_.differences[i].causes) {
        if (cause.cause != name) continue;
        values.front() = cause.before;
        values[i + 1] = cause.now;
      }
    }
    return values;
  }

  std::vector<Seconds> sums() const {
    std::vector<Seconds> sums(c_.runs.size());
    for (std::size_t i = 0; i < c_.differences.size(); ++i) {
      sums.front() = Seconds{};
      for (const CauseDifference& cause : c_.differences[i].causes) {
        sums.front() += cause.before;
        sums[i + 1] += cause.now;
      }
    }
    return sums;
  }

  double share(Seconds time) const { return time / c_.runs.front().result.step_time; }
  bool is_small(const std::vector<Seconds>& values) const {
    return std::ranges::all_of(
        values, [&](Seconds value) { return std::abs(share(value - values.front())) < kSmall; });
  }
  std::string difference(Seconds time) const {
    return with_sign(time.seconds(), [&](double seconds) { return column_.text(seconds); });
  }

  TextRow row(const std::string& title, const std::vector<Seconds>& values) const {
    TextRow row{title, {column_.text(values.front().seconds())}};
    if (is_pair(c_)) {
      const Seconds apart = values[1] - values[0];
      row.cells.push_back(column_.text(values[1].seconds()));
      row.cells.push_back(difference(apart));
      row.cells.push_back(signed_percent(share(apart)));
      return row;
    }
    for (std::size_t i = 1; i < values.size(); ++i)
      row.cells.push_back(difference(values[i] - values.front()));
    return row;
  }

  const Comparison& c_;
  Column column_;
};

}  // namespace

TextTable input_table(const Comparison& c) {
  TextTable table{"Input", labels_of(c), {}};
  for (const InputDifference& difference : c.inputs) {
    const InputDifference* names = names_of_part(c, difference.key);
    std::vector<std::string> texts = key_texts(c, difference);
    if (names == &difference) {
      table.rows.push_back({difference.key.substr(0, difference.key.find('.')), std::move(texts)});
    } else if (names == nullptr || difference.key == "cluster.nodes" ||
               differs_in_one_name(c, *names, difference)) {
      table.rows.push_back({difference.key, std::move(texts)});
    }
  }
  for (const InputDifference& hash : c.hashes) table.rows.push_back(hash_row(hash));
  return table;
}

TextTable answer_table(const Comparison& c) {
  TextTable table{"Answer", labels_of(c), {}};
  if (is_pair(c)) {
    table.columns.emplace_back("B - A");
    table.columns.emplace_back("of A");
  }
  AnswerRows rows(c);
  add_times(c, rows);
  add_rates(c, rows);
  add_utilisation(c, rows);
  add_memory(c, rows);
  add_cost(rows);
  add_verdicts(c, rows);
  table.rows = rows.take();
  return table;
}

TextTable cause_table(const Comparison& c) {
  TextTable table{"Where the difference comes from", labels_of(c), {}};
  if (is_pair(c)) {
    table.columns.emplace_back("B - A");
    table.columns.emplace_back("of A's step");
  } else {
    for (std::size_t i = 1; i < table.columns.size(); ++i) table.columns[i] += " - A";
  }
  table.rows = CauseRows(c).rows();
  return table;
}

}  // namespace stepsim
