// One event of a trace that stepsim wrote, as its fields stand in the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/recording/interval_set.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Arguments that matter to the timeline, whatever the event; what the file does not say is as it
/// is here. Texts are valid until the next event is parsed.
struct SimulatedArguments {
  // of processes and threads
  std::string_view name, members, kind, axis;
  std::int64_t rank = -1, stage = 0, multiplicity = 1, slices = -1, row = -1;
  // of slices
  std::int64_t step = 0, micro_batch = -1, message = 0;
  std::optional<std::int64_t> operation, blocker;
  std::string_view cause, wait, outside;
  std::optional<Nanoseconds> wait_time;
  double bytes = 0;
  double contention_us = 0;
  bool sends = false;
  CauseSeconds mix{};  ///< what a slice of several kernels is made of, in seconds
  bool has_mix = false;
  std::vector<std::pair<std::string_view, double>>
      sides;  ///< outside the measured range, in seconds
  // of counters
  double gib = 0;
};

struct SimulatedEvent {
  char phase = 0;             ///< X is a slice, M describes a process or a thread, C is a counter
  std::string_view name;      ///< of a slice, or what it describes
  std::string_view category;  ///< `cat`
  std::int64_t process = -1, thread = -1;
  std::optional<Nanoseconds> start, duration;
  SimulatedArguments arguments;
};

/// Parses events one after the other, with one memory for all.
class SimulatedParser {
 public:
  SimulatedParser();
  ~SimulatedParser();
  /// The event of that text, behind which kPiecePadding bytes may be read; valid until the next
  /// one. nullptr where it is no JSON object, or a field is of another kind.
  const SimulatedEvent* event(std::string_view text);

 private:
  struct Json;
  std::unique_ptr<Json> json_;
};

}  // namespace stepsim
