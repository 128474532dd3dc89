// Answers side by side: what differs in what was asked, and what in the answer, cause by cause.
//
// Every answer is compared with the first. Where its step trains on more or fewer tokens (samples,
// where neither has tokens) than the first one's, its time is scaled to as many.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/report/measure/statistics.hpp"
#include "sim/scenario/suite/run_record.hpp"
#include "sim/validation/pair_errors.hpp"

namespace stepsim {

/// What is compared of a result (schema stepsim.result/1).
struct ResultFacts {
  std::string scenario;  ///< name of the scenario
  Seconds step_time;     ///< step of the middle replica, where there are several
  double samples_per_s = 0;
  std::optional<double> tokens_per_s;
  std::optional<int> gpus;
  double model_tflops_per_gpu = 0, mfu = 0, hfu = 0;
  std::string flop_convention;
  /// seconds by name of the cause; they sum to step_time
  std::vector<std::pair<std::string, Seconds>> causes;
  struct Memory {
    Bytes peak, capacity;
    bool fits = true;
  };
  std::optional<Memory> memory;
  struct Cost {
    double per_hour = 0, per_million_samples = 0;
    std::optional<double> per_million_tokens;
  };
  std::optional<Cost> cost;  ///< dollars
  std::vector<Seconds> replicas;
  struct Error {
    int rows = 0;
    double median = 0;
    RunKind kind;  ///< kind of the measured runs
  };
  std::optional<Error> expected_error;  ///< absent: no measured run is like it
  std::string verdict;
  std::string version;
  /// pairs such as "gpu h100" and the hash of that profile
  std::vector<std::pair<std::string, std::string>> hashes;
  std::string yaml;  ///< the scenario with every default; empty: an earlier version left it out

  /// The mean step of the replicas, or the step where there is one run.
  Seconds mean() const;
};

struct ComparedKey {
  std::string key, value;
};

/// One of the answers that are compared, and the question that it answers.
struct Contender {
  std::string label;                  ///< letter by which reports call it: A, B, ...
  std::string file;                   ///< path as the user named it
  std::vector<std::string> settings;  ///< --set: path=value on top of the file
  std::vector<std::string> changes;   ///< --vs: likewise, on top of the first one
  bool is_result = false;             ///< the file is one
  /// Keys of its scenario that bear on the answer; empty: not known.
  std::vector<ComparedKey> keys;
  ResultFacts result;
};

/// A key whose value differs between contenders. A value is absent where a contender has no such
/// key, or its keys are not known.
struct InputDifference {
  std::string key;
  std::vector<std::optional<std::string>> values;  ///< one value for each contender, in their order
};

struct CauseDifference {
  std::string cause;
  Seconds before, now;
  Seconds difference() const { return now - before; }
};

/// How one of the runs differs from the first.
struct Difference {
  /// How many of its steps do what one step of the first does. 1: steps are compared as they are.
  double scale = 1;
  Seconds before, now;                  ///< the steps, means of replicas
  std::vector<CauseDifference> causes;  ///< causes of the middle steps; the largest first
  std::optional<Welch> test;            ///< absent: neither has replicas
  std::optional<PairErrors> pairs;      ///< pairs of measured runs like the two; absent: too few

  /// The difference over the first one's step: -0.2 is 20 % less.
  double fraction() const { return now / before - 1; }
  /// The difference of the middle steps, to which the causes' differences sum.
  Seconds of_causes() const;
};

/// What comes out when the first of two contenders is a baseline for the second.
struct BaselineJudgement {
  double tolerance = 0;  ///< a share: 0.02 is 2 %
  /// true: slower by more than the tolerance; the flags below mean as much
  bool is_slower = false;
  bool needs_more = false;  ///< true: it needs more memory by more than the tolerance
  bool fits_no_more = false;
  bool is_faster = false, needs_less = false;
  bool is_met() const { return !is_slower && !needs_more && !fits_no_more; }
  bool has_improved() const { return is_met() && (is_faster || needs_less); }
};

struct Comparison {
  std::vector<Contender> runs;
  std::vector<InputDifference> inputs;  ///< in the order of a scenario's keys
  std::vector<InputDifference>
      hashes;  ///< hashes of profiles of one name, of scenarios without keys
  std::vector<Difference> differences;  ///< differences of all runs but the first
  std::optional<BaselineJudgement> baseline;
};

/// Labels the runs and compares them. `measured` are the runs that predictions were compared with.
/// REQUIRES: two runs at least.
Comparison compare(std::vector<Contender> runs, const std::vector<RecordedRuns>& measured = {});

/// Judges the second run by the first: the step (for as much work), the peak of memory where both
/// have one, and whether it fits. With replicas, only a significant difference counts as slower or
/// faster. REQUIRES: two runs, the baseline first.
BaselineJudgement judge_baseline(const Comparison& comparison, double tolerance);

/// The letter of a contender: "A" to "Z".
std::string label_of(std::size_t index);
inline constexpr std::size_t kMostCompared = 26;

}  // namespace stepsim
