// Each algorithm on an empty network, through the event engine, against alpha-beta.
//
// S bytes, n ranks, N nodes of k GPUs, q NICs of a node in use. alpha and B: latency of a step and
// bandwidth of the node's link; a and C: of a hop between nodes and of one NIC, both with their
// efficiency. A pipelined algorithm takes its steps' latencies, then the longest of what its links
// carry (derived in the file of each algorithm, sim/plan/collective/):
//
//   ring            2(N-1) a + 2(n-N) alpha, 2(n-1)/n S / qC between, (1-1/k) of it / B inside
//                   (a node alone: all of it inside; gather and scatter: half; broadcast and
//                   reduce: one turn, S on every link)
//   tree            2 log2 N a + 2(k-1) alpha, 2S / qC (two nodes: S), 2(k-1)/k S / B
//   nvls            2 alpha, (1+1/n) S / B; gather and scatter alpha, S / B; over nodes with SHARP
//                   a more, S / qC
//   nvls_tree       2 log2 N a + 2 alpha, as tree between, (1+1/k) S / B
//   collnet_direct  a + 2 alpha, S / qC, 2(k-1)/k S / B; gather and scatter a + alpha,
//                   (N-1)/N S / qC, (k-1)/k S / B
//   collnet_chain   a + 2(k-1) alpha, S / qC, 2(k-1)/k S / B
//   pat             log2 n a, (n-1)/n S / C
//   hierarchical    scatter in the node + 2(N-1) a + 2(N-1)/N S / qC + gather in the node
//   pairwise        max(a + (n-k) p, alpha), (N-1)/N k S / qC, (k-1)/n S / B
//   hierarchical_all_to_all   alpha + (k-1)/k S / B + a + (N-1) p + (N-1)/N k S / qC
//
// (Thakur, Rabenseifner, Gropp 2005, section 4; Sanders, Speck, Träff 2009.)
#include "sim/plan/collective.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/group/lone_collective.hpp"
#include "sim/plan/nccl/cost.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double alpha = 3e-6, B = 0.8 * 200e9;  // inside a node
constexpr double a = 10e-6, C = 0.9 * 25e9;      // between nodes
constexpr double posted = 2.9e-6;                // by the host, for a peer of an all-to-all

std::string cluster_text(int nodes, int gpus, int nics) {
  return fmt::format(
      "cluster: {{name: c, gpu: a100-80, nodes: {}, gpus_per_node: {}, "
      "intra_node: {{bandwidth: 200 GB/s, efficiency: 0.8, latency: 3 us}}, "
      "inter_node: {{nics_per_node: {}, bandwidth: 25 GB/s, efficiency: 0.9, latency: 10 us, "
      "sharp: true}}}}\n",
      nodes, gpus, nics);
}

/// All ranks of a cluster of Hopper GPUs are one group.
struct Bench {
  Bench(int nodes, int gpus, int nics)
      : experiment(hopper(cluster_text(nodes, gpus, nics) +
                          fmt::format("model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
                                      "training: {{global_batch: {}, precision: fp16}}\n",
                                      nodes * gpus))) {}

  static Scenario hopper(const std::string& text) {
    Scenario scenario = on_paper(text);
    scenario.cluster.gpu.architecture = Architecture::hopper;
    return scenario;
  }

  /// Simulated seconds.
  double operator()(CollectiveOp op, double bytes, const Collectives& collectives) const {
    Group group = group_for(experiment.plan, 0, op);
    Phases phases =
        collective({op, Bytes{bytes}}, group.shape, experiment.scenario.cluster, collectives);
    const Plan plan = lone_collective(experiment.plan, std::move(group), std::move(phases));
    return simulate(plan).timeline.step_ends[0];
  }
  double operator()(CollectiveOp op, double bytes, const std::string& algorithm) const {
    return (*this)(op, bytes, stated(op, algorithm));
  }

  Experiment experiment;
};

struct Shape {
  double N, k, q;
  double n() const { return N * k; }
  Bench bench() const { return {static_cast<int>(N), static_cast<int>(k), static_cast<int>(q)}; }
  /// Latency, and the longer of the bytes between nodes and inside them.
  double time(double latency, double between, double inside) const {
    return latency + std::max(N > 1 ? between / (q * C) : 0, inside / B);
  }
};

constexpr CollectiveOp kAll = CollectiveOp::all_reduce, kGather = CollectiveOp::all_gather,
                       kScatter = CollectiveOp::reduce_scatter;
constexpr double kSizes[] = {1e3, 1e6, 64e6, 2e9};
constexpr Shape kShapes[] = {{2, 8, 8}, {3, 4, 2}, {4, 1, 1}, {8, 8, 4}, {5, 6, 3}};

/// The formula on every shape and size.
template <class Formula>
void check_all(CollectiveOp op, const std::string& algorithm, const std::vector<Shape>& shapes,
               const Formula& formula) {
  for (const Shape& shape : shapes) {
    CAPTURE(algorithm);
    CAPTURE(shape.N);
    CAPTURE(shape.k);
    const Bench bench = shape.bench();
    for (const double S : kSizes) {
      CAPTURE(S);
      CHECK(bench(op, S, algorithm) == nine_digits(formula(shape, S)));
    }
  }
}

const std::vector<Shape> kOneNode{{1, 2, 2}, {1, 3, 3}, {1, 4, 4}, {1, 8, 8}};
const std::vector<Shape> kNodes(std::begin(kShapes), std::end(kShapes));
const std::vector<Shape> kFull{{2, 8, 8}, {4, 4, 4}, {8, 3, 3}};  // a NIC for each GPU

}  // namespace

TEST_CASE("a ring in a node takes 2(n-1) (alpha + S/(nB)), a gather or scatter half of it") {
  const auto half = [](const Shape& s, double S) { return (s.k - 1) * (alpha + S / (s.k * B)); };
  check_all(kAll, "ring", kOneNode, [&](const Shape& s, double S) { return 2 * half(s, S); });
  check_all(kGather, "ring", kOneNode, half);
  check_all(kScatter, "ring", kOneNode, half);
}

TEST_CASE("a ring over nodes takes 2(N-1) hops and 2(n-1)/n S over its NICs") {
  const auto half = [](const Shape& s, double S) {
    const double carried = (s.n() - 1) / s.n() * S;
    return s.time((s.N - 1) * a + (s.n() - s.N) * alpha, carried, carried * (1 - 1 / s.k));
  };
  check_all(kAll, "ring", kNodes, [&](const Shape& s, double S) { return 2 * half(s, S); });
  check_all(kGather, "ring", kNodes, half);
  check_all(kScatter, "ring", kNodes, half);
}

TEST_CASE("a broadcast or reduction is one turn of a ring that carries S") {
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
    check_all(op, "auto", kOneNode,
              [](const Shape& s, double S) { return (s.k - 1) * alpha + S / B; });
    check_all(op, "auto", kNodes, [](const Shape& s, double S) {
      return s.time((s.N - 1) * a + (s.n() - s.N) * alpha, S, S * (1 - 1 / s.k));
    });
  }
}

TEST_CASE("a tree takes 2 log2 N hops, and each NIC its share of the message twice") {
  const auto tree = [](const Shape& s, double S) {
    return s.time(2 * std::ceil(std::log2(s.N)) * a + 2 * (s.k - 1) * alpha, s.N == 2 ? S : 2 * S,
                  2 * (s.k - 1) / s.k * S);
  };
  check_all(kAll, "tree", kNodes, tree);
  check_all(kAll, "tree", kOneNode, tree);
}

TEST_CASE("NVLS reduces in the switch: (1 + 1/n) S on each link, S to gather or scatter") {
  const std::vector<Shape> shapes{{1, 4, 4}, {1, 8, 8}};
  check_all(kAll, "nvls", shapes,
            [](const Shape& s, double S) { return 2 * alpha + (1 + 1 / s.k) * S / B; });
  for (const CollectiveOp half : {kGather, kScatter})
    check_all(half, "nvls", shapes, [](const Shape&, double S) { return alpha + S / B; });
}

TEST_CASE("NVLS over nodes with SHARP: S up and down each node's NICs") {
  check_all(kAll, "nvls", kFull,
            [](const Shape& s, double S) { return s.time(2 * alpha + a, S, (1 + 1 / s.k) * S); });
}

TEST_CASE("an NVLS tree carries (1 + 1/k) S inside nodes and twice S between them") {
  check_all(kAll, "nvls_tree", kFull, [](const Shape& s, double S) {
    return s.time(2 * std::ceil(std::log2(s.N)) * a + 2 * alpha, s.N == 2 ? S : 2 * S,
                  (1 + 1 / s.k) * S);
  });
}

TEST_CASE("CollNet sends S once to the switches, which reduce") {
  check_all(kAll, "collnet_direct", kFull, [](const Shape& s, double S) {
    return s.time(a + 2 * alpha, S, 2 * (s.k - 1) / s.k * S);
  });
  for (const CollectiveOp half : {kGather, kScatter}) {
    check_all(half, "collnet_direct", kFull, [](const Shape& s, double S) {
      return s.time(a + alpha, (s.N - 1) / s.N * S, (s.k - 1) / s.k * S);
    });
  }
  check_all(kAll, "collnet_chain", kNodes, [](const Shape& s, double S) {
    return s.time(a + 2 * (s.k - 1) * alpha, S, 2 * (s.k - 1) / s.k * S);
  });
}

TEST_CASE("PAT gathers and scatters in log2 n rounds, one GPU a node") {
  for (const CollectiveOp half : {kGather, kScatter}) {
    check_all(half, "pat", {{2, 1, 1}, {8, 1, 1}, {13, 1, 1}}, [](const Shape& s, double S) {
      return s.time(std::ceil(std::log2(s.N)) * a, (s.N - 1) / s.N * S, 0);
    });
  }
}

TEST_CASE("a hierarchical all-reduce is the sum of its three parts") {
  const auto inside = [](const Shape& s, double S) { return (s.k - 1) * (alpha + S / (s.k * B)); };
  const auto between = [](const Shape& s, double S) {
    return (s.N - 1) * a + (s.N - 1) / s.N * S / (s.q * C);
  };
  // Among four GPUs of a node NCCL gathers and scatters by rings, whatever the size.
  const std::vector<Shape> shapes{{2, 4, 4}, {4, 4, 1}, {16, 4, 2}};
  check_all(kAll, "hierarchical", shapes,
            [&](const Shape& s, double S) { return 2 * inside(s, S) + 2 * between(s, S); });
  for (const CollectiveOp half : {kGather, kScatter}) {
    check_all(half, "hierarchical", shapes,
              [&](const Shape& s, double S) { return inside(s, S) + between(s, S); });
  }
}

TEST_CASE("an all-to-all moves what ranks have for each other, all pairs at once") {
  const auto op = CollectiveOp::all_to_all;
  check_all(op, "auto", kOneNode,
            [](const Shape& s, double S) { return alpha + (s.k - 1) / s.k * S / B; });
  check_all(op, "pairwise", kNodes, [](const Shape& s, double S) {
    return s.time(std::max(a + (s.n() - s.k) * posted, s.k > 1 ? alpha : 0),
                  (s.N - 1) / s.N * s.k * S, (s.k - 1) / s.n() * S);
  });
}

TEST_CASE("a hierarchical all-to-all exchanges inside first, then between equal ranks") {
  check_all(CollectiveOp::all_to_all, "hierarchical_all_to_all", {{2, 8, 8}, {3, 4, 2}},
            [](const Shape& s, double S) {
              return alpha + (s.k - 1) / s.k * S / B + a + (s.N - 1) * posted +
                     (s.N - 1) / s.N * s.k * S / (s.q * C);
            });
}

TEST_CASE("LL puts a flag beside every word: twice the bytes on the links") {
  Collectives ll = stated(kAll, "ring");
  ll.all_reduce.protocol = Protocol::ll;
  const Shape s{4, 1, 1};
  for (const double S : kSizes)
    CHECK(s.bench()(kAll, S, ll) == nine_digits(6 * a + 2 * 2 * 0.75 * S / C));
}

TEST_CASE("the choice is NCCL's: the cheapest by its constants, not by the links") {
  for (const Shape& s : kShapes) {
    const Bench bench = s.bench();
    const Cluster& cluster = bench.experiment.scenario.cluster;
    const GroupShape group = group_for(bench.experiment.plan, 0, kAll).shape;
    for (double S = 1; S < 1e10; S *= 7) {
      for (const CollectiveOp op : {kAll, kGather, kScatter}) {
        const auto best = nccl::cheapest(communicator_of(group, cluster, NcclVersion::v2_30), op,
                                         Bytes{S}, {}, Protocol::simple);
        const Decision decision = decide({op, Bytes{S}}, group, cluster, {});
        CHECK(decision.algorithm->name == nccl::name_of(best->algorithm));
      }
    }
  }
}
