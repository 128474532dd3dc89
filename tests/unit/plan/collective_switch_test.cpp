// The sizes at which NCCL's choice changes: where two costs cross, and as a list in the docs.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/plan/collective.hpp"
#include "sim/plan/nccl/cost.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

const Library kLibrary{{source_folder()}};

struct System {
  const char* cluster;
  const char* title;
};
constexpr System kSystems[] = {{"dgx-a100-80", "DGX A100"},
                               {"dgx-h100", "DGX H100"},
                               {"dgx-b200", "DGX B200"},
                               {"aws-p4d", "AWS p4d"}};

std::string title_of(const Decision& decision) {
  return fmt::format("{} {}", decision.algorithm->name, nccl::name_of(decision.protocol));
}

/// "512 KiB" of 19.
std::string size_of(int power) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB"};
  return fmt::format("{} {}", 1 << (power % 10), units[power / 10]);
}

/// "ring LL to 512 KiB, nvls Simple"
std::string choices(CollectiveOp op, const GroupShape& group, const Cluster& cluster) {
  std::string text, now;
  for (int power = 10; power <= 32; ++power) {
    const Bytes bytes{std::ldexp(1.0, power)};
    const std::string next = title_of(decide({op, bytes}, group, cluster, {}));
    if (next == now) continue;
    if (!now.empty()) text += fmt::format("{} to {}, ", now, size_of(power - 1));
    now = next;
  }
  return text + now;
}

/// One group of ranks; gathers and scatters have the same choices.
std::string choices_of(const std::string& ranks, const GroupShape& group, const Cluster& cluster) {
  const std::string gather = choices(CollectiveOp::all_gather, group, cluster);
  CHECK(gather == choices(CollectiveOp::reduce_scatter, group, cluster));
  return fmt::format("- {0}, all-reduce:\n  {1}\n- {0}, all-gather and reduce-scatter:\n  {2}\n",
                     ranks, choices(CollectiveOp::all_reduce, group, cluster), gather);
}

std::string lists() {
  std::string text;
  for (const System& system : kSystems) {
    const Cluster cluster = load_cluster(system.cluster, kLibrary);
    const int nics = cluster.inter_node->nics_per_node;
    text += fmt::format("### {}\n\n", system.title);
    for (const int gpus : {2, 4, 8})
      text +=
          choices_of(fmt::format("{} of a node", gpus), {gpus, 1, std::min(gpus, nics)}, cluster);
    for (const int nodes : {2, 4, 16})
      text += choices_of(fmt::format("{} nodes of 8", nodes), {nodes * 8, nodes, nics}, cluster);
    text += choices_of("16 nodes, one each", {16, 16, 1}, cluster) + '\n';
  }
  return text;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a choice changes where its cost meets that of the next one") {
  // Two candidates t = l + S / b cross at S* = (l2 - l1) / (1/b1 - 1/b2). On eight H100 an
  // all-reduce by rings of LL meets NVLS at 10 us / (1/80.6 - 1/272 GB/s), 1.15 MB.
  const Cluster cluster = load_cluster("dgx-h100", kLibrary);
  const GroupShape group{8, 1, 8};
  const auto c = communicator_of(group, cluster, NcclVersion::v2_30);
  const auto all = CollectiveOp::all_reduce;
  const auto ring = nccl::candidate(c, all, nccl::Algorithm::ring, Protocol::ll, 1_MiB);
  const auto nvls = nccl::candidate(c, all, nccl::Algorithm::nvls, Protocol::simple, 1_MiB);
  const double crossing = (nvls.latency - ring.latency).seconds() /
                          (1 / ring.bandwidth.base() - 1 / nvls.bandwidth.base());
  CHECK(crossing == doctest::Approx(10e-6 / (1 / (141e9 * 8 / 14) - 1 / (476e9 * 8 / 14))));
  const auto at = [&](double bytes) {
    return title_of(decide({all, Bytes{bytes}}, group, cluster, {}));
  };
  CHECK(at(crossing * 0.999) == "ring LL");
  CHECK(at(crossing * 1.001) == "nvls Simple");
}

TEST_CASE("docs/collectives.md holds the sizes at which the choice changes") {
  const fs::path path = fs::path(source_folder()) / "docs/collectives.md";
  const std::string begin =
      "<!-- choices: made from the cost model; renew with STEPSIM_UPDATE=1 build/tests/unit_plan "
      "-->\n\n";
  const std::string text = text_of(path);
  const auto at = text.find(begin);
  REQUIRE(at != std::string::npos);
  if (std::getenv("STEPSIM_UPDATE") != nullptr)
    std::ofstream(path) << text.substr(0, at + begin.size()) << lists();
  const bool is_fresh = text_of(path).substr(at + begin.size()) == lists();
  CHECK_MESSAGE(is_fresh, "a choice has changed: STEPSIM_UPDATE=1 build/tests/unit_plan");
}
