// Collectives against alpha-beta (Thakur, Rabenseifner, Gropp 2005, section 4).
//
// S bytes, n ranks, N nodes of k GPUs, q NICs of a node in use. alpha and B: latency of a step and
// bandwidth of the node's link; a and C: of a hop between nodes and of one NIC, both with their
// efficiency. A ring all-reduce has 2(n-1) steps that move S/n each:
//   in a node          2(n-1) (alpha + S/(nB))
//   over N nodes       2(N-1) a + 2(n-N) alpha + 2(n-1)/n S / min(q C, B k/(k-1))
//     (2(N-1) of the steps cross nodes; q NICs carry the ring's bytes together; a ring leaves each
//     node once, so that k - 1 of k steps use the node's links)
// and a gather or scatter is half of it. A double binary tree climbs log2 N levels and comes back,
// every NIC carrying the message twice at 0.92 of the ring's rate (NCCL):
//   tree               2 a log2 N + 2 S / (0.92 q C)            (one GPU a node)
//   hierarchical       scatter in the node + 2(N-1) a + 2(N-1)/N S / (q C) + gather in the node
// With one GPU a node, tree and ring cost the same at
//   S* = a C (2(N-1) - 2 log2 N) / (2/0.92 - 2(N-1)/N).
#include "sim/plan/collective.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double alpha = 3e-6, B = 0.8 * 200e9;  // inside a node
constexpr double a = 10e-6, C = 0.9 * 25e9;      // between nodes

std::string cluster_text(int nodes, int gpus, int nics) {
  return fmt::format(
      "cluster: {{name: c, gpu: a100-80, nodes: {}, gpus_per_node: {}, "
      "intra_node: {{bandwidth: 200 GB/s, efficiency: 0.8, latency: 3 us}}, "
      "inter_node: {{nics_per_node: {}, bandwidth: 25 GB/s, efficiency: 0.9, latency: 10 us}}}}\n",
      nodes, gpus, nics);
}

Cluster cluster_of(int nodes, int gpus, int nics) {
  return scenario_of(cluster_text(nodes, gpus, nics) +
                     "model: {name: m, kind: mlp, layers: 1, width: 1}\n"
                     "training: {global_batch: " +
                     std::to_string(nodes * gpus) + "}\n")
      .cluster;
}

double seconds(CollectiveOp op, double bytes, int nodes, int gpus, int nics,
               const std::string& algorithm) {
  const Cluster cluster = cluster_of(nodes, gpus, nics);
  const GroupShape group{nodes * gpus, nodes, nics};
  return uncontended(collective({op, Bytes{bytes}}, group, cluster, algorithm)).seconds();
}

/// The simulated time of a data-parallel all-reduce that nothing hides.
double simulated(double bytes, int nodes, int gpus, int nics, const std::string& algorithm) {
  const Experiment experiment(
      on_paper(cluster_text(nodes, gpus, nics) +
               fmt::format("model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
                           "training: {{global_batch: {}, precision: fp16, gradient_clipping: "
                           "false}}\nparallelism: {{data: {{overlap: false}}}}\n"
                           "collectives: {{all_reduce: {}}}\nhost: {{launch: 0 us}}\n",
                           nodes * gpus, algorithm)),
      paper_graph(paper_layer(1_ms, 2_ms, bytes / 2), 1));
  return experiment.step_seconds() - 3e-3;
}

double ring(double S, int N, int k, int q) {
  const double n = N * k;
  const double rate = k > 1 ? std::min(q * C, B * k / (k - 1)) : q * C;
  return 2 * (N - 1) * a + 2 * (n - N) * alpha + 2 * (n - 1) / n * S / rate;
}

double tree(double S, int N) { return 2 * a * std::log2(N) + 2 * S / (0.92 * C); }

constexpr double kSizes[] = {1e3, 1e6, 64e6, 2e9};

}  // namespace

TEST_CASE("a ring all-reduce in a node takes 2(n-1) (alpha + S/(nB))") {
  for (const int n : {2, 3, 4, 8}) {
    for (const double S : kSizes) {
      CAPTURE(n);
      CAPTURE(S);
      const double expected = 2 * (n - 1) * (alpha + S / (n * B));
      CHECK(seconds(CollectiveOp::all_reduce, S, 1, n, n, "auto") == nine_digits(expected));
      CHECK(simulated(S, 1, n, n, "auto") == doctest::Approx(expected).epsilon(1e-9));
      for (const CollectiveOp half : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
        CHECK(seconds(half, S, 1, n, n, "auto") == nine_digits(expected / 2));
      }
    }
  }
}

TEST_CASE("a ring over nodes takes 2(N-1) hops and 2(n-1)/n S over its NICs") {
  for (const int N : {2, 3, 4, 8}) {
    for (const auto& [k, q] : {std::pair{1, 1}, {4, 1}, {8, 4}, {8, 8}}) {
      for (const double S : kSizes) {
        CAPTURE(N);
        CAPTURE(k);
        CAPTURE(q);
        CAPTURE(S);
        const double expected = ring(S, N, k, q);
        CHECK(seconds(CollectiveOp::all_reduce, S, N, k, q, "ring") == nine_digits(expected));
        CHECK(simulated(S, N, k, q, "ring") == doctest::Approx(expected).epsilon(1e-9));
        for (const CollectiveOp half : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
          CHECK(seconds(half, S, N, k, q, "ring") == nine_digits(expected / 2));
        }
      }
    }
  }
}

TEST_CASE("a tree takes 2 log2 N hops and carries the message twice") {
  for (const int N : {2, 4, 8, 64}) {
    for (const double S : kSizes) {
      CAPTURE(N);
      CAPTURE(S);
      CHECK(seconds(CollectiveOp::all_reduce, S, N, 1, 1, "tree") == nine_digits(tree(S, N)));
    }
  }
  CHECK(simulated(1e6, 4, 1, 1, "tree") == doctest::Approx(tree(1e6, 4)).epsilon(1e-9));
}

TEST_CASE("a hierarchical all-reduce is the sum of its three parts") {
  for (const auto& [N, k, q] : {std::tuple{2, 8, 8}, {4, 4, 1}, {16, 8, 4}}) {
    for (const double S : kSizes) {
      CAPTURE(N);
      CAPTURE(k);
      CAPTURE(S);
      const double inside = (k - 1) * (alpha + S / (k * B));
      const double gather = (N - 1) * a + (N - 1.0) / N * S / (q * C);
      const auto time = [&, n = N, g = k, nics = q](CollectiveOp op) {
        return seconds(op, S, n, g, nics, "hierarchical");
      };
      CHECK(time(CollectiveOp::all_reduce) == nine_digits(2 * inside + 2 * gather));
      CHECK(time(CollectiveOp::all_gather) == nine_digits(inside + gather));
      CHECK(time(CollectiveOp::reduce_scatter) == nine_digits(inside + gather));
    }
  }
  const double S = 64e6;
  const double expected =
      2 * 3 * (alpha + S / (4 * B)) + 2 * 3 * a + 2 * 0.75 * S / (2 * C);  // N = 4, k = 4, q = 2
  CHECK(simulated(S, 4, 4, 2, "hierarchical") == doctest::Approx(expected).epsilon(1e-9));
}

TEST_CASE("auto takes the tree for small messages and the ring for large ones") {
  for (const int N : {8, 32, 128}) {
    CAPTURE(N);
    const double crossover =
        a * C * (2.0 * (N - 1) - 2 * std::log2(N)) / (2 / 0.92 - 2.0 * (N - 1) / N);
    const auto automatic = [&](double S) {
      return seconds(CollectiveOp::all_reduce, S, N, 1, 1, "auto");
    };
    CHECK(tree(crossover, N) == nine_digits(ring(crossover, N, 1, 1)));
    CHECK(automatic(0.999 * crossover) == nine_digits(tree(0.999 * crossover, N)));
    CHECK(automatic(1.001 * crossover) == nine_digits(ring(1.001 * crossover, N, 1, 1)));
    CHECK(automatic(0.999 * crossover) < ring(0.999 * crossover, N, 1, 1));
    CHECK(automatic(1.001 * crossover) < tree(1.001 * crossover, N));
  }
}

TEST_CASE("auto is never slower than any algorithm that can do the collective") {
  for (const CollectiveOp op :
       {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    for (double S = 1; S < 1e10; S *= 7) {
      for (const auto& [N, k, q] : {std::tuple{2, 1, 1}, {4, 8, 8}, {16, 8, 2}}) {
        double best = INFINITY;
        for (const CollectiveAlgorithm* one : Registry<CollectiveAlgorithm>::all()) {
          if (!one->supports({op, Bytes{S}}, {N * k, N, q})) continue;
          best = std::min(best, seconds(op, S, N, k, q, std::string(one->name)));
        }
        CHECK(seconds(op, S, N, k, q, "auto") == nine_digits(best));
      }
    }
  }
}
