// A timeline while it is rebuilt from the events of a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/recording/simulated/simulated_event.hpp"
#include "sim/recording/simulated/simulated_trace.hpp"

namespace stepsim {

class RebuiltTimeline {
 public:
  /// `file` is the name that messages cite.
  RebuiltTimeline(const SimulatedHead& head, std::string file);

  /// Adds what the event says. Throws UserError where it contradicts what came before.
  void add(const SimulatedEvent& event);
  /// The timeline. Throws UserError where events are missing.
  Timeline finished();

 private:
  /// What is known of a row while its slices come.
  struct RowState {
    Cause cause = Cause::forward, wait_cause = Cause::sync_wait;
    std::int32_t last = kNoSpan;
    Nanoseconds end = 0;
  };
  struct RankState {
    std::vector<std::uint16_t> row_of_thread;  ///< by tid
    std::vector<RowState> rows;
    std::int64_t slices = 0;  ///< that the file says it has
    Nanoseconds end = 0;      ///< of the last slice
  };
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void describe_process(const SimulatedEvent& event);
  void describe_thread(const SimulatedEvent& event);
  void add_slice(const SimulatedEvent& event);
  void add_memory(const SimulatedEvent& event);
  Span span_of(const SimulatedEvent& event, RankState& state, std::uint16_t row);
  void set_work(const SimulatedArguments& arguments, Span& span);
  void set_causes(const SimulatedEvent& event, const RowState& state, bool computes, Span& span);
  void set_blocker(const SimulatedArguments& arguments, const RowState& state, std::size_t index,
                   Span& span) const;
  /// Selects the rank of that process; false where it is none.
  bool select(std::int64_t process);
  void check_rank(const RankTimeline& rank, const RankState& state) const;
  std::uint32_t name(std::string_view text);
  Cause cause(std::string_view name) const;
  [[noreturn]] void damaged(const std::string& what) const;

  const SimulatedHead& head_;
  std::string file_;
  Timeline timeline_;
  std::vector<RankState> states_;  // by rank
  std::unordered_map<std::int64_t, std::size_t> rank_of_process_;
  std::optional<std::int64_t> process_;  // the one that was selected last
  std::size_t rank_ = 0;                 // its rank
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> names_;
  std::unordered_map<std::int64_t, std::uint32_t> operations_;  // numbered anew, without gaps
};

}  // namespace stepsim
