// What a search found, ready to be printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/measure/energy.hpp"
#include "sim/search/best_first.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/layout.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Why the step of the best strategy is shorter than that of the scenario.
struct SearchReason {
  CauseSeconds own{}, best{};  ///< steps of the slowest stage by cause; each sums to its step
};

/// A whole training with the best strategy.
struct TrainedRun {
  double steps = 0;
  double tokens = 0;  ///< 0: the model has samples only
  Seconds wall;       ///< with checkpoints and failures, where the scenario has checkpoints
  std::optional<double> goodput;    ///< set where the scenario has checkpoints
  std::optional<RunEnergy> energy;  ///< set where the GPU's power is known
  double idle = 0;                  ///< share of the wall time in which no kernel runs
  double kwh() const { return energy->kwh(wall, idle); }
};

/// A framework, and the choices of the best strategy that it does not have.
struct FrameworkFit {
  std::string name;
  std::vector<std::string> lacks;  ///< "parallelism.context.kind ring"
};

/// The search over the strategies for one number of GPUs.
struct SearchReport {
  std::string scenario, model, gpu;
  int gpus = 0;
  Bytes capacity;
  Bytes usable;  ///< capacity, less the margin that strategies leave free
  std::int64_t global_batch = 0;
  std::optional<StrategyOutcome> own;  ///< the scenario as it stands, where it has so many GPUs
  bool interrupted = false;  ///< true: the search was interrupted, or what was asked about its best
  SearchOutcome outcome;
  /// one for each strategy that is listed; the first is the best
  std::vector<std::string> commands;
  std::vector<TriedStrategy> listed;
  std::optional<SearchReason> reason;  ///< set where the scenario and the best strategy both fit
  std::optional<TrainedRun> run;       ///< set where a length is known
  std::string no_run;                  ///< why there is no run
  std::optional<double> dollars_per_hour;  ///< price of a GPU
  std::optional<Seconds> deadline;         ///< time in which the training has to end
  bool is_restricted = false;              ///< true: --only restricts the strategies
  std::vector<FrameworkFit> frameworks;    ///< empty: the scenario states one, which has it all
};

/// How the steps of a search are printed.
struct StepColumn {
  Column column;
  bool each_its_unit = false;  ///< true: the steps are too far apart for one unit
  std::string text(Seconds step) const;
};
StepColumn step_column(const SearchOutcome& outcome, const std::optional<StrategyOutcome>& own);

/// The first `keep` strategies of the ranking, without those that differ from an earlier one in the
/// bucket alone. Those within 1 % of the fastest come first, in order of memory.
std::vector<TriedStrategy> listed_of(const SearchOutcome& outcome, std::size_t keep);

/// The reason in words: "saves 5.73 s of recompute and 2.11 s of pipeline bubble, and spends 0.20 s
/// more on ...".
std::string reason_text(const SearchReason& reason);

/// The frameworks that have all of the best strategy, or the one that lacks least: "megatron,
/// deepspeed".
std::string frameworks_text(const std::vector<FrameworkFit>& frameworks);

/// The training in words: "300 G tokens in 34.2 days, 840,000 GPU hours, 1,680,000.00 $, 909 MWh
/// (780 MWh to 1.18 GWh), 405 t of CO2e, goodput 94.1 %".
std::string trained_text(const TrainedRun& run, int gpus, std::optional<double> dollars_per_hour);

/// What is said about a training whose scenario states neither checkpoints nor failures.
inline constexpr const char* kWithoutFailures =
    "; without checkpoints and failures, which are not stated";

/// The deadline in words: "in time: 4.5 days before the deadline of 30.0 days".
std::string in_time_text(Seconds wall, Seconds deadline);

/// The command in lines of a shell, of at most `width` where its words allow that.
std::vector<std::string> shell_lines(const std::string& command, int width);

/// Why samples do not divide: ": 128 samples do not divide among 96 GPUs"; empty where they do.
std::string undivided_text(std::int64_t global_batch, int gpus);

/// The counts in words: "12 strategies: 3 do not fit together, ...".
std::string counts_text(const SearchCounts& counts);

/// Why the search ended early: "the 300 simulations are used up (--simulations allows more)"; empty
/// where everything was done.
std::string end_text(const SearchOutcome& outcome);
/// How many simulations failed, and the first of them; empty where none did.
std::string failures_text(const SearchOutcome& outcome);
/// The strategy that is closest, where nothing fits.
std::string closest_text(const SearchOutcome& outcome, Bytes capacity);
/// Whether the outcome needs more than there is while the allocator keeps fragments.
bool is_tight(const StrategyOutcome& outcome, Bytes capacity);
/// What a table of strategies says about tight ones, and about those that nearly fill a GPU.
std::string tight_text(Bytes capacity);
std::string nearly_full_text(Bytes capacity);

std::string search_text(const SearchReport& report, const Screen& screen);
std::string search_json(const SearchReport& report);
std::string search_csv(const SearchReport& report);

}  // namespace stepsim
