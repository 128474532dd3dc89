// Published times of collectives between many nodes (calib/measured/fabric_collectives.csv): what is
// predicted of each fabric, kind of collective and number of ranks. Nothing is fitted to them.
//
// That a ring's steps and bytes pass at the same time (sim/plan/collective/ring.cpp) was read off four
// DGX A100, and that NVLS waits for a turn of chunks (sim/plan/collective/fill.hpp) in NCCL's code.
#include <fstream>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "tests/closed_form/collective_bench.hpp"
#include "tests/csv_cells.hpp"

using namespace stepsim;

namespace {

struct FabricRow {
  std::string system;
  CollectiveOp op = CollectiveOp::all_reduce;
  int nodes = 0, ranks = 0;
  double bytes = 0, us = 0;
};

std::vector<FabricRow> fabric_rows(const std::string& system, CollectiveOp op) {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/fabric_collectives.csv");
  std::vector<FabricRow> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(system + ",", 0) != 0) continue;
    const auto cells = cells_of(line);  // system, op, nodes, ranks, bytes, us
    if (op_named(cells[1]) != op) continue;
    rows.push_back({system, op, std::stoi(cells[2]), std::stoi(cells[3]), std::stod(cells[4]),
                    std::stod(cells[5])});
  }
  return rows;
}

/// As the system is, with eight GPUs a node or, on Alps, four that are joined without switches.
std::string cluster_like(const FabricRow& row) {
  if (row.system == "alps")
    return fmt::format(
        "{{base: dgx-h100, nodes: {}, gpus_per_node: 4, node_topology: full_mesh, "
        "inter_node: {{nics_per_node: 4, bandwidth: 200 Gbit/s}}}}",
        row.nodes);
  if (row.system == "p5") return fmt::format("{{base: aws-p5, nodes: {}}}", row.nodes);
  return fmt::format("{{base: dgx-h100, nodes: {}, inter_node: {{sharp: {}}}}}", row.nodes,
                     row.system == "sharp");
}

/// Predicted over measured of rows that `keeps` keeps, with the choices that `collectives` states.
template <class Keeps>
CollectiveErrors errors_of_fabric(const std::string& system, CollectiveOp op,
                                  const std::string& collectives, const Keeps& keeps) {
  std::map<int, std::pair<CollectiveErrors, double>> of_ranks;
  CollectiveErrors all;
  for (const FabricRow& row : fabric_rows(system, op)) {
    if (!keeps(row)) continue;
    const CollectiveBench bench(cluster_like(row), row.ranks, collectives);
    const double us = bench(op, row.bytes);
    auto& [errors, signs] = of_ranks[row.ranks];
    errors.add(us, row.us);
    signs += us / row.us - 1;
    all.add(us, row.us);
  }
  for (const auto& [ranks, one] : of_ranks) {
    const auto count = static_cast<double>(one.first.all.size());
    MESSAGE(fmt::format("{} {}, {} ranks: {} rows, median {:.1f} %, bias {:+.1f} %", system,
                        name_of(op), ranks, count, one.first.at(0.5) * 100,
                        one.second / count * 100));
  }
  return all;
}

bool any_row(const FabricRow& /*row*/) { return true; }

}  // namespace

TEST_CASE("rings on Slingshot take their bytes' time from 4 MiB a rank on, within 3 %") {
  const CollectiveErrors errors = errors_of_fabric(
      "alps", CollectiveOp::all_reduce, "\"2.27\", all_reduce: {algorithm: ring, protocol: simple}",
      [](const FabricRow& row) {
        return row.ranks >= 16 && row.ranks <= 1024 && row.bytes >= 0x1p22 * row.ranks;
      });
  REQUIRE(errors.all.size() == 28);
  CHECK(errors.at(0.5) < 0.03);
  CHECK(errors.at(0.9) < 0.06);
}

TEST_CASE("all-reduces of 32 and 64 H100 on InfiniBand at NCCL's defaults") {
  const CollectiveErrors errors =
      errors_of_fabric("ndr", CollectiveOp::all_reduce, "\"2.30\"", any_row);
  REQUIRE(errors.all.size() == 26);
  CHECK(errors.at(0.5) < 0.17);
}

TEST_CASE("all-reduces of 64 H100 through switches that reduce are met within 5 %") {
  const CollectiveErrors errors =
      errors_of_fabric("sharp", CollectiveOp::all_reduce, "\"2.30\"", any_row);
  REQUIRE(errors.all.size() == 5);
  CHECK(errors.all.back() < 0.05);
}

TEST_CASE("gathers and reductions of 16 to 256 H100 on EFA") {
  const CollectiveErrors gathers =
      errors_of_fabric("p5", CollectiveOp::all_gather, "\"2.30\"", any_row);
  REQUIRE(gathers.all.size() == 35);
  CHECK(gathers.at(0.5) < 0.15);
  const CollectiveErrors reductions =
      errors_of_fabric("p5", CollectiveOp::all_reduce, "\"2.30\"", any_row);
  REQUIRE(reductions.all.size() == 45);
  CHECK(reductions.at(0.5) < 0.1);
}
