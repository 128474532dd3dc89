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

/// Equal segments of the critical path of a mean step, taken together.
struct PathPiece {
  int rank = 0, stage = 0;
  Cause cause = Cause::forward;
  std::string task;
  int times = 0;    ///< number of segments in all measured steps
  Seconds seconds;  ///< seconds of a step
};

/// The critical path of a mean step. The pieces sum to it; the longest comes first.
struct PathSummary {
  std::vector<PathPiece> pieces;
  std::vector<PathSegment> last_step;  ///< in order of time
  std::vector<int> ranks;              ///< rank of each segment, by its index
};

/// The kind of a change: nothing to wait for at all, other hardware, or another value of a key.
enum class ChangeKind { limit, hardware, setting };

/// How much more collectives slow compute down in a changed step than in the scenario's.
struct MoreContention {
  Seconds more;  ///< seconds of a step, on the slowest stage
  /// share of a GPU's SMs that the collective holds which holds most
  double held_now = 0, held_then = 0;
};

/// A counterfactual and its simulated step.
struct ChangeOutcome {
  ChangeKind kind = ChangeKind::limit;
  std::string title;                  ///< title: "GPUs twice as fast", "data.workers=16"
  std::vector<std::string> settings;  ///< settings for --set
  Seconds step;
  Bytes peak;                                  ///< peak of the GPU that needs most
  bool fits = true;                            ///< in memory
  std::optional<MoreContention> contention{};  ///< hardware that makes a step longer by it
};

/// How many loader workers keep the GPUs busy.
struct LoaderNeed {
  int workers = 0;              ///< workers of one replica, as they are
  double delivered = 0;         ///< samples a second that a replica gets
  double taken = 0;             ///< samples a second that it takes from infinitely fast workers
  Seconds copies{};             ///< wait of a step with such workers for copies to the GPU
  std::optional<int> enough{};  ///< the fewest beyond which more do not help
  int most = 0;  ///< with nothing enough: so many were tried, and more might help; 0: none would
};

struct Explanation {
  Metrics metrics;
  PathSummary path;
  std::vector<ChangeOutcome> changes;  ///< the best of each kind comes first
  std::optional<LoaderNeed> loader;    ///< set where waiting for input costs most
  std::vector<Symptom> symptoms;
  Verdict verdict;
  bool is_interrupted = false;  ///< true: changes are missing, and so is the verdict
};

PathSummary summary_of_path(const Timeline& timeline);

/// A step to 30 bits, a billionth: what differs by less takes as long, and its order is not chance.
double rounded(Seconds step);

/// The best of the settings that fit in memory, or nullptr when none saves anything. Where the
/// scenario itself does not fit, it is the fastest setting that does, or nullptr when none does.
const ChangeOutcome* best_setting(const Metrics& metrics,
                                  const std::vector<ChangeOutcome>& changes);

/// The setting as a text: "--set training.micro_batch=2: 433 ms (-46.5 %)"; with the memory that it
/// needs, where that is the point of it.
std::string next_setting(const Metrics& metrics, const ChangeOutcome& best);

/// The verdict of the run. It has the numbers of the loader where the loader is to blame. The best
/// setting that fits is the next thing to try, unless a fault has to be mended first. Where
/// checkpoints and lost work take much of a long run, it says what would be better for that.
Verdict verdict_of(const Explanation& explanation);

std::string to_table(const Explanation& explanation, const Screen& screen);

/// The explanation as one object of schema "stepsim.explanation/1", in the form of a result's JSON.
std::string to_json(const Explanation& explanation);

}  // namespace stepsim
