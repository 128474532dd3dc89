// An event: what is to happen at a date, as a value.
#pragma once

#include <cstdint>

namespace stepsim {

/// What `a` and `b` of an event are stands beside each kind.
enum class EventKind : std::uint32_t {
  task_ready,       ///< rank, task: all edges into it are satisfied
  task_arrives,     ///< rank, task: a communication is launched
  read_starts,      ///< rank, task
  task_ends,        ///< rank, task
  chain_ends,       ///< rank, number of the schedule: an older one no longer holds
  phase_starts,     ///< group
  phase_part_ends,  ///< group
  operation_ends,   ///< group
  transfer_ends,    ///< the board's own: transfer, number of its schedule
  traffic_starts    ///< the board's own: what others send
};

struct Event {
  EventKind kind{};
  std::uint32_t a = 0, b = 0;
};

}  // namespace stepsim
