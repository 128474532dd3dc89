// Finds the matrix whose update needs most memory.
#include "sim/plan/memory/update_memory.hpp"

#include <algorithm>

#include "sim/plan/matrix_owners.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/scenario/rank_order.hpp"

namespace stepsim {
namespace {

constexpr double kBf16 = 2;

}  // namespace

Bytes update_bytes(const WeightMatrix& matrix, const Muon& muon, std::int64_t ranks) {
  double iterated = 0, whole = 0;
  for (const std::int64_t rows : parts_of(matrix)) {
    const Orthogonalised part = orthogonalised(rows, matrix.columns, matrix.split, ranks, muon);
    const double elements = part.matrix.elements();
    if (part.gathers) whole = std::max(whole, kFp32 * elements);
    iterated = std::max(
        {iterated, (kFp32 + kBf16) * elements, 2 * kBf16 * (elements + part.matrix.squared())});
  }
  return Bytes{(muon.nesterov ? kFp32 : 0) * matrix.elements() + whole + iterated};
}

Bytes update_bytes(const Scenario& scenario, const OpGraph& graph, int stage) {
  const Muon muon = scenario.training.muon_keys();
  Bytes most;
  for (int chunk = 0; chunk < scenario.parallelism.pipeline.chunks; ++chunk) {
    for (const bool expert : {false, true}) {
      const auto blocks = blocks_of(scenario, graph, stage, chunk);
      for (const WeightMatrix* matrix : matrices_of(scenario, graph, blocks, expert))
        most = std::max(most, update_bytes(*matrix, muon, degree_of(matrix->axis, scenario)));
    }
  }
  return most;
}

}  // namespace stepsim
