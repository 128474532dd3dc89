// How fast trees are over two nodes: `two_node_trees` of a link is the geometric middle of what
// nccl-tests measured over what NCCL's cost model expects, one figure a source.
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/plan/nccl/cost.hpp"
#include "sim/scenario/load.hpp"
#include "tests/csv_cells.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {
namespace {

constexpr Bytes kLarge = 32_MiB;  ///< from here on a tree's rate is most of its time

nccl::Communicator two_dgx1() {
  nccl::Communicator c{.version = NcclVersion::v2_20, .architecture = Architecture::volta};
  c.ranks = 16;
  c.nodes = 2;
  c.nics = 4;
  c.nvswitch = false;
  c.link = 150_GBps;
  c.nic = 12.5_GBps;
  return c;
}

/// Logarithms of expected over measured time of one source's large messages, in the mean.
double log_rate(const std::string& system) {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/node_all_reduces.csv");
  std::vector<double> logs;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(system + ",", 0) != 0) continue;
    const auto cells = cells_of(line);
    const Bytes bytes{std::stod(cells[2])};
    if (bytes < kLarge) continue;
    const auto chosen = nccl::cheapest(two_dgx1(), CollectiveOp::all_reduce, bytes);
    REQUIRE(chosen->algorithm == nccl::Algorithm::tree);
    logs.push_back(std::log(chosen->time(bytes).microseconds() / std::stod(cells[3])));
  }
  REQUIRE(logs.size() >= 5);
  double sum = 0;
  for (const double one : logs) sum += one;
  return sum / static_cast<double>(logs.size());
}

double rate_of(const std::string& link) {
  return load_link(link, Library{{source_folder()}}).two_node_trees;
}

}  // namespace

TEST_CASE("trees over two DGX-1 have the rate that the middle of both tables says") {
  const double middle = std::exp((log_rate("dgx1-sriov") + log_rate("dgx1-slurm")) / 2);
  CHECK(rate_of("nvlink2-dgx1v") == doctest::Approx(middle).epsilon(1e-3));
}

TEST_CASE("over other links trees are as fast as NCCL expects") {
  for (const char* link : {"nvlink3", "nvlink4", "nvlink5", "nvlink5-nvl72"}) {
    CAPTURE(link);
    CHECK(rate_of(link) == 1);
  }
}

}  // namespace stepsim
