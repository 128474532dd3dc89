// The result as CSV: one row of scalars.
#include <algorithm>

#include "sim/report/run/run_report.hpp"
#include "sim/text/csv_cell.hpp"
#include "sim/text/digits.hpp"

namespace stepsim {
namespace {

struct Cell {
  std::string column;
  std::string value;
};

std::string whole(std::int64_t value) { return fmt::format("{}", value); }
std::string whole(Bytes size) {
  return std::isfinite(size.bytes()) ? fmt::format("{:.0f}", size.bytes()) : std::string{};
}

void add_memory(std::vector<Cell>& cells, const Memory& memory) {
  const bool known = !memory.stages.empty();
  cells.push_back({"peak_memory_bytes", known ? whole(memory.worst().total()) : ""});
  cells.push_back({"memory_capacity_bytes", known ? whole(memory.capacity) : ""});
  cells.push_back({"fits", known ? (memory.fits() ? "true" : "false") : ""});
}

void add_breakdown(std::vector<Cell>& cells, const CauseSeconds& seconds) {
  for (std::size_t i = 0; i < kCauses; ++i) {
    cells.push_back({fmt::format("{}_s", name_of(static_cast<Cause>(i))), digits(seconds[i])});
  }
}

/// Adds cells of each axis, so that the columns stay when a run does not communicate along one.
void add_communication(std::vector<Cell>& cells, const std::vector<GroupCommunication>& groups) {
  for (const Axis axis : kAllAxes) {
    if (!words_of(axis).in_each_row) continue;
    const char* name = name_of(axis);
    const auto along = [&](const GroupCommunication& g) { return g.axis == axis; };
    const auto found = std::ranges::find_if(groups, along);
    const GroupCommunication group = found == groups.end() ? GroupCommunication{} : *found;
    cells.push_back({fmt::format("{}_communication_bytes", name), whole(group.bytes)});
    cells.push_back({fmt::format("{}_communication_busy_s", name), digits(group.busy.seconds())});
  }
}

void add_replicas(std::vector<Cell>& cells, const std::optional<Replicas>& replicas) {
  const Statistics s = replicas ? replicas->statistics : Statistics{};
  const auto of = [&](Seconds time) { return replicas ? digits(time.seconds()) : std::string{}; };
  cells.push_back({"replicas", replicas ? whole(s.count) : "1"});
  cells.push_back({"replicas_mean_s", of(s.mean)});
  cells.push_back({"replicas_confidence_95_s", of(s.confidence)});
  cells.push_back({"replicas_median_s", of(s.median)});
  cells.push_back({"replicas_p95_s", of(s.p95)});
  cells.push_back({"replicas_least_s", of(s.least)});
  cells.push_back({"replicas_most_s", of(s.most)});
}

/// All columns and their values, in order: the one place that knows the columns.
std::vector<Cell> cells_of(const Metrics& m) {
  const auto of_tokens = [&](double value) { return m.has_tokens ? digits(value) : std::string{}; };
  std::vector<Cell> cells{
      {"scenario", csv_cell(m.scenario)},
      {"model", csv_cell(m.model)},
      {"gpu", csv_cell(m.gpu)},
      {"gpus", whole(m.gpus)},
      {"nodes", whole(m.nodes)},
      {"split", csv_cell(m.split)},
      {"step_time_s", digits(m.step_time.seconds())},
      {"tokens_per_s", of_tokens(m.tokens_per_s)},
      {"samples_per_s", digits(m.samples_per_s)},
      {"tokens_per_s_per_gpu", of_tokens(m.tokens_per_s_per_gpu)},
      {"model_tflops_per_gpu", digits(m.model_tflops_per_gpu)},
      {"mfu", digits(m.mfu)},
      {"hfu", digits(m.hfu)},
      {"bubble_fraction", digits(m.bubble_fraction)},
      {"data_stall_fraction", digits(m.data_stall_fraction)},
      {"overlap_efficiency", digits(m.overlap_efficiency)},
  };
  add_memory(cells, m.memory);
  add_breakdown(cells, m.breakdown);
  add_communication(cells, m.communication);
  add_replicas(cells, m.replicas);
  cells.push_back({"ranks_simulated", whole(m.engine.ranks_simulated)});
  cells.push_back({"events", whole(m.engine.events)});
  return cells;
}

std::string row_of(const std::vector<Cell>& cells, std::string Cell::*part) {
  std::string row;
  for (const Cell& cell : cells) row += cell.*part + ",";
  row.back() = '\n';
  return row;
}

}  // namespace

std::string csv_header() { return row_of(cells_of(Metrics{}), &Cell::column); }
std::string csv_row(const Metrics& metrics) { return row_of(cells_of(metrics), &Cell::value); }
std::string to_csv(const Metrics& metrics) { return csv_header() + csv_row(metrics); }

}  // namespace stepsim
