// What the scenario knows of the slices of a trace and their timeline does not: layers, shapes,
// FLOPs, algorithms, groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// The facts of a rank's spans, as arguments of slices: texts that begin with a comma.
struct RankFacts {
  std::vector<std::int32_t> layers;  ///< by span: number of the layer, from 0; -1: none, unknown
  std::vector<std::string_view> arguments;  ///< by span

  std::int32_t layer(std::size_t span) const { return span < layers.size() ? layers[span] : -1; }
  std::string_view more(std::size_t span) const {
    return span < arguments.size() ? arguments[span] : std::string_view{};
  }
};

/// Finds the kernels of a pass in the graph of its stage by their names and their order. Where a
/// pass has another number of kernels of a name than the stage's blocks, their layers are not
/// known.
class TraceFacts {
 public:
  /// Keeps references to all three.
  TraceFacts(const Scenario& scenario, const OpGraph& graph, const Plan& plan);

  /// The facts of that rank's spans; valid as long as this is.
  RankFacts of_rank(const Timeline& timeline, const RankTimeline& rank);
  /// The group of a communicator's row: its ranks.
  std::string of_row(int rank, const std::string& row) const;

 private:
  struct Place;
  struct Pass;
  /// The kernels of a micro-batch on a stage, by pass.
  class Kernels;

  /// Whether one kernel of the graph stands for all: of layers that are alike.
  static bool are_alike(const std::vector<Place>& places);
  const Group* group_of(int rank, std::string_view row) const;
  std::string_view of_collective(const RankTimeline& rank, const Span& span,
                                 const std::string& name);
  std::string_view of_work(const Work& work);

  const Scenario& scenario_;
  const OpGraph& graph_;
  OpGraph first_;  // of rank 0, where that differs
  const Plan& plan_;
  std::map<const Work*, std::string> works_;
  std::map<std::tuple<const Group*, std::string, double>, std::string> collectives_;
};

}  // namespace stepsim
