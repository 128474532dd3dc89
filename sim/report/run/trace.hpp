// The timeline as Chrome trace JSON, for https://ui.perfetto.dev: rows, slices, arrows and memory.
//
// A process is a simulated rank, a thread is one of its rows. Slices are spans; an arrow (flow)
// leads from the span that sends to the span that receives; memory is a counter. The events
// follow the rules by which Perfetto's importer reads this format (google/perfetto,
// src/trace_processor/importers/json and flow_tracker.cc):
//   - slices of a thread nest: spans of a row follow each other, and rounding to ns keeps it so;
//   - times are microseconds with three decimals, made from whole nanoseconds;
//   - the two legs of a flow have the same (id, cat, name) and lie strictly inside their slices;
//     the slices are written first, `s` comes before `f`, and `f` binds to its enclosing slice
//     ("bp": "e").
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "sim/timeline/timeline.hpp"

namespace stepsim {

struct TraceOptions {
  std::vector<int> ranks;  ///< global ranks to write; empty: all that were simulated
};

/// Streams the trace. Memory does not grow with the number of events, but for the flows.
void write_trace(std::ostream& out, const Timeline& timeline, const TraceOptions& options = {});

/// Saves the trace to a file, compressed when the path ends in ".gz". Throws IoError.
void save_trace(const std::string& path, const Timeline& timeline,
                const TraceOptions& options = {});

}  // namespace stepsim
