// The timeline as Chrome trace JSON, for https://ui.perfetto.dev: rows, slices, arrows and memory.
//
// A process is a simulated rank, a thread is one of its rows. Slices are spans; an arrow (flow)
// leads from the span that sends to the span that receives; memory is a counter. The category of a
// slice is what it is: work by its cause on the compute row, else the kind of its row. What else a
// timeline holds stands in arguments, so that it can be read back
// (sim/recording/simulated/read_simulated.hpp); what follows from the slices before is left out.
// The events follow the rules by which Perfetto's importer reads this format (google/perfetto,
// src/trace_processor/importers/json and flow_tracker.cc):
//   - slices of a thread nest: spans of a row follow each other, and rounding to ns keeps it so;
//   - times are microseconds with three decimals, made from whole nanoseconds;
//   - the two legs of a flow have the same (id, cat, name) and lie strictly inside their slices;
//     the slices are written first, `s` comes before `f`, and `f` binds to its enclosing slice
//     ("bp": "e");
//   - a member of the document that the importer does not know may end it, so that what the file
//     says of itself stands in `otherData`, which it passes over.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/simulate.hpp"
#include "sim/text/output.hpp"
#include "sim/timeline/chosen.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

class TraceFacts;

/// What a trace says of the simulation that it is of.
struct TraceHead {
  std::string scenario;  ///< its name
  std::string yaml;      ///< the scenario with every default
  std::string next;      ///< what the answer proposes
  std::string level;     ///< what a slice of the compute row is: kernel, task
  int replica = 0;
  EngineStats engine;
  std::vector<std::pair<std::string, std::string>> hashes;  ///< of the profiles, by what they are
};

struct TraceOptions {
  TimelineChoice choice{};          ///< what of the timeline is written
  const TraceHead* head = nullptr;  ///< nullptr: the file cannot be read back
  TraceFacts* facts = nullptr;      ///< what more is known of slices; nullptr: nothing
};

/// Streams the trace. Memory does not grow with the number of events, but for the flows.
void write_trace(std::ostream& out, const Timeline& timeline, const TraceOptions& options = {});

/// Saves the trace to a file, compressed when the path ends in ".gz". Throws as save_file() does.
void save_trace(const Output& output, const Timeline& timeline, const TraceOptions& options = {});

/// Knows traces of stepsim, of any version.
Maker trace_maker();

}  // namespace stepsim
