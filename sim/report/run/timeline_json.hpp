// One step of a timeline as JSON, for pages and for programs that draw: columns of spans, and what
// ranks wait for.
#pragma once

#include <cstddef>
#include <string>

#include "sim/report/run/trace_facts.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// What is said of the step beside its spans.
struct TimelineHead {
  std::string scenario;    ///< its name
  std::string level;       ///< what a span of a compute row is: kernel, task
  int ranks_left_out = 0;  ///< simulated ranks that the timeline does not have
};

/// One object of schema "stepsim.timeline/1" on one line, with a newline at its end. Times are whole
/// nanoseconds, sizes are bytes. The spans of a rank are columns: item i of each is of its i-th span.
/// A span starts `gap_ns` after the end of the span before it on its row, the first of a row after
/// the step's begin; a wait after the end of the wait before it. `blocker_back` counts back to the
/// span that let it start last, 0: none. -1 stands for no micro-batch and no layer.
std::string timeline_json(const TimelineHead& head, const Timeline& timeline, std::size_t step,
                          TraceFacts& facts);

}  // namespace stepsim
