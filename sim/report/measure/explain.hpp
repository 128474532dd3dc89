// The long answer to "what holds the step up": its critical path, and what each change would save.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/measure/metrics.hpp"
#include "sim/report/measure/symptoms.hpp"
#include "sim/text/layout.hpp"
#include "sim/timeline/critical_path.hpp"

namespace stepsim {

/// Equal segments of the critical path, of a mean step.
struct PathPiece {
  int rank = 0, stage = 0;
  Cause cause = Cause::forward;
  std::string task;
  int times = 0;    ///< in all measured steps
  Seconds seconds;  ///< a step
};

/// The critical path of a mean step; the pieces sum to it, the longest first.
struct PathSummary {
  std::vector<PathPiece> pieces;
  std::vector<PathSegment> last_step;  ///< in order of time
  std::vector<int> ranks;              ///< of the segments, by their index
};

/// What kind of change: nothing to wait for at all, other hardware, another value of a key.
enum class ChangeKind { limit, hardware, setting };

/// How collectives slow compute down in a changed step, where that makes it longer than the
/// scenario's.
struct MoreContention {
  Seconds more;                        ///< a step, on the slowest stage
  double held_now = 0, held_then = 0;  ///< share of a GPU's SMs, by the collective that holds most
};

/// A counterfactual and its simulated step.
struct ChangeOutcome {
  ChangeKind kind = ChangeKind::limit;
  std::string title;                  ///< "GPUs twice as fast", "data.workers=16"
  std::vector<std::string> settings;  ///< for --set
  Seconds step;
  Bytes peak;                                  ///< of the GPU that needs most
  bool fits = true;                            ///< in memory
  std::optional<MoreContention> contention{};  ///< hardware that makes a step longer by it
};

/// How many loader workers keep the GPUs busy.
struct LoaderNeed {
  int workers = 0;              ///< of one replica, as they are
  double delivered = 0;         ///< samples a second that a replica gets
  double taken = 0;             ///< that it takes from infinitely fast workers
  Seconds copies{};             ///< of a step with those, waiting for copies to the GPU
  std::optional<int> enough{};  ///< the fewest beyond which more do not help
  int most = 0;  ///< with nothing enough: so many were tried, and more might help; 0: none would
};

struct Explanation {
  Metrics metrics;
  PathSummary path;
  std::vector<ChangeOutcome> changes;  ///< the best of each kind first
  std::optional<LoaderNeed> loader;    ///< where waiting for input is what costs most
  std::vector<Symptom> symptoms;
  Verdict verdict;
  bool is_interrupted = false;  ///< changes are missing, and so is the verdict
};

PathSummary summary_of_path(const Timeline& timeline);

/// The best of the settings that fit in memory, or nullptr when none saves anything; where the
/// scenario itself does not fit, the fastest that does, or nullptr when none does.
const ChangeOutcome* best_setting(const Metrics& metrics,
                                  const std::vector<ChangeOutcome>& changes);

/// "--set training.micro_batch=2: 433 ms (-46.5 %)"; what it needs, where that is the point of it.
std::string next_setting(const Metrics& metrics, const ChangeOutcome& best);

/// The verdict of the run, with the numbers of the loader where that is to blame, and the best
/// setting that fits as the next thing to try, unless a fault has to be mended first. Where
/// checkpoints and lost work take much of a long run, what would be better for that.
Verdict verdict_of(const Explanation& explanation);

std::string to_table(const Explanation& explanation, const Style& style);

/// One object of schema "stepsim.explanation/1", as to_json of a result.
std::string to_json(const Explanation& explanation);

}  // namespace stepsim
