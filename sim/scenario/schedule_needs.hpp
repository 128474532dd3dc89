// What a pipeline schedule asks of the split: schedules say it, the checks of a scenario read it.
#pragma once

#include <string>

namespace stepsim {

/// No schedule runs more chunks per stage than this.
inline constexpr int kMostChunks = 1024;

/// Whether a forward and a backward pass of the steady state run as one: never, where that is asked
/// for (of one stage, or of any number), or always.
enum class Joins { never, one_stage, asked, always };

/// What a schedule asks of stages, chunks and transfers.
struct ScheduleNeeds {
  int least_chunks = 1;  ///< model chunks per stage
  int most_chunks = 1;
  int copies = 1;            ///< stages that hold each part of the model
  bool takes_turns = false;  ///< a stage stays with one chunk for a group of micro-batches
  bool overlaps = false;     ///< locks, or undoes its warm-up, unless transfers run beside compute
  Joins joins = Joins::never;
  /// What does not fit, as in "needs an even number of stages, but there are 3"; nullptr: all does,
  /// and so does "".
  std::string (*objection)(int stages, int micro_batches) = nullptr;
};

/// Whether passes of that many stages can run as one, asked or not.
constexpr bool can_join(Joins joins, int stages) {
  return joins == Joins::one_stage ? stages == 1 : joins != Joins::never;
}

/// A schedule as the checks know it.
struct KnownSchedule {
  std::string name;
  ScheduleNeeds needs;
};

}  // namespace stepsim
