// Answers side by side: what differs in what was asked, and what in the answer, cause by cause.
//
// All is compared with the first of them. Where a step of another trains on more or fewer tokens
// (samples, where neither has tokens), its time is that for as many as the first one's step has.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/report/measure/welch.hpp"
#include "sim/scenario/suite/run_record.hpp"
#include "sim/validation/pair_errors.hpp"

namespace stepsim {

/// Of a result (schema stepsim.result/1), what is compared.
struct ResultFacts {
  std::string scenario;  ///< its name
  Seconds step_time;     ///< of the replica in the middle, where there are several
  double samples_per_s = 0;
  std::optional<double> tokens_per_s;
  std::optional<int> gpus;
  double model_tflops_per_gpu = 0, mfu = 0, hfu = 0;
  std::string flop_convention;
  std::vector<std::pair<std::string, Seconds>> causes;  ///< by name; sum to step_time
  struct Memory {
    Bytes peak, capacity;
    bool fits = true;
  };
  std::optional<Memory> memory;
  struct Cost {
    double per_hour = 0, per_million_samples = 0;
    std::optional<double> per_million_tokens;
  };
  std::optional<Cost> cost;  ///< in dollars
  std::vector<Seconds> replicas;
  struct Error {
    int rows = 0;
    double median = 0;
    RunKind kind;  ///< of these runs
  };
  std::optional<Error> expected_error;  ///< absent: no measured run is like it
  std::string verdict;
  std::string version;
  std::vector<std::pair<std::string, std::string>> hashes;  ///< "gpu h100" and its profile's hash
  std::string yaml;  ///< its scenario with every default; empty: an earlier version left it out

  /// The mean of the replicas, or the step.
  Seconds mean() const;
};

struct ComparedKey {
  std::string key, value;
};

/// One of the answers, and what it answers.
struct Contender {
  std::string label;                  ///< A, B, ...
  std::string file;                   ///< as the user named it
  std::vector<std::string> settings;  ///< --set: path=value on top of the file
  std::vector<std::string> changes;   ///< --vs: likewise, on top of the first one
  bool is_result = false;             ///< the file is one
  /// Of its scenario, those that bear on the answer; empty: not known.
  std::vector<ComparedKey> keys;
  ResultFacts result;
};

/// A key whose value is not the same everywhere; nothing: that one has no such key, or no keys are
/// known.
struct InputDifference {
  std::string key;
  std::vector<std::optional<std::string>> values;  ///< one each, in their order
};

struct CauseDifference {
  std::string cause;
  Seconds before, now;
  Seconds difference() const { return now - before; }
};

/// Of one of them from the first.
struct Difference {
  /// Its steps count that many times: so many do what one of the first does. 1: as they are.
  double scale = 1;
  Seconds before, now;                  ///< the steps, means of replicas
  std::vector<CauseDifference> causes;  ///< of the steps in the middle; the largest first
  std::optional<Welch> test;            ///< absent: neither has replicas
  std::optional<PairErrors> pairs;      ///< of measured runs like the two; absent: too few

  /// Of the first one's step: -0.2 is 20 % less.
  double fraction() const { return now / before - 1; }
  /// Of the steps in the middle; the causes' differences sum to it.
  Seconds of_causes() const;
};

/// What the first one, a baseline, makes of the second.
struct BaselineJudgement {
  double tolerance = 0;     ///< 0.02 is 2 %
  bool is_slower = false;   ///< by more than the tolerance, and so on
  bool needs_more = false;  ///< memory
  bool fits_no_more = false;
  bool is_faster = false, needs_less = false;
  bool is_met() const { return !is_slower && !needs_more && !fits_no_more; }
  bool has_improved() const { return is_met() && (is_faster || needs_less); }
};

struct Comparison {
  std::vector<Contender> runs;
  std::vector<InputDifference> inputs;  ///< in the order of a scenario's keys
  std::vector<InputDifference> hashes;  ///< of profiles of one name; of scenarios without keys
  std::vector<Difference> differences;  ///< of all but the first
  std::optional<BaselineJudgement> baseline;
};

/// Labels them; `measured` are the runs that predictions were compared with. REQUIRES: two at
/// least.
Comparison compare(std::vector<Contender> runs, const std::vector<RecordedRuns>& measured = {});

/// The step (for as much work), the peak of memory where both have one, and whether it fits. Of
/// replicas only what is significant counts as slower or faster. REQUIRES: two of them, the
/// baseline first.
BaselineJudgement judge_baseline(const Comparison& comparison, double tolerance);

/// "A" to "Z".
std::string label_of(std::size_t index);
inline constexpr std::size_t kMostCompared = 26;

}  // namespace stepsim
