// Sharing of links: max-min fairness of a fluid network, where k equal flows on one link get 1/k.
//
// A flow that a second one joins: 100 GB on a link of 100 GB/s; at 0.5 s another 100 GB join. Half
// of the first is then left and moves at 50 GB/s, until 0.5 + 50/50 = 1.5 s; by then the second has
// moved 50 GB too and finishes the rest alone at 100 GB/s, at 1.5 + 50/100 = 2.0 s.
//
// Two transfers on one NIC take twice as long as one on a NIC of its own. In a fat tree with g
// nodes a leaf, one NIC each, and an up-link oversubscribed by f, the up-link carries g C / f: when
// all g nodes send out of the leaf at once each gets C / f.
#include <fmt/format.h>

#include "tests/closed_form/board_calls.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

/// When flows that start at those dates and move 100 GB each end; each crosses the one link of
/// 100 GB/s as often as `crossings` says, and is no faster than `rate`.
std::vector<double> ends(const std::vector<double>& starts, std::uint32_t crossings = 1,
                         double rate = 1e30) {
  Folding folding;
  folding.links = {100_GBps};
  folding.groups.resize(1);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    folding.groups[0].streams[0].push_back(
        {.crossings = {{0, crossings}}, .alone = 100_GBps / static_cast<double>(crossings)});
  }
  BoardCalls board(folding);
  std::vector<double> result(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    board.at(starts[i], [&, i](double) {
      board.transfer(folding.groups[0].streams[0][i], 100e9, rate, starts[i],
                     [&result, i](double date) { result[i] = date; });
    });
  }
  board.run();
  return result;
}

constexpr double kCompute = 10e-3;
constexpr double kMessage = 1e9, kNic = 25e9;

/// Two stages, two replicas and one micro-batch: step = compute + activations over + gradients
/// back. What the two transfers take is returned. `more`: other keys of the cluster.
double two_replicas(int nodes, int gpus, const std::string& fabric, const std::string& more = "") {
  OpGraph graph = paper_graph(paper_layer(2_ms, 3_ms), 2);
  graph.boundary = Bytes{kMessage};
  const Experiment experiment(on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: 2, width: 1}}
cluster:
  name: c
  gpu: a100-80
  nodes: {}
  gpus_per_node: {}
  intra_node: {{bandwidth: 100 GB/s, latency: 0 us}}
  inter_node: {{bandwidth: 25 GB/s, latency: 0 us, {}}}
{}
training: {{global_batch: 2, precision: fp16, gradient_clipping: false}}
parallelism: {{pipeline: {{stages: 2}}}}
host: {{launch: 0 us}}
)",
                                                   nodes, gpus, fabric, more)),
                              std::move(graph));
  const double folded = experiment.step_seconds() - kCompute;
  CHECK(folded == nine_digits(experiment.step_seconds({.fold = false}) - kCompute));
  return folded;
}

/// Two data-parallel groups of two ranks on two nodes: the exposed time of their all-reduces.
double two_groups(int nics) {
  const Experiment experiment(on_paper(fmt::format(R"(
model: {{name: m, layers: 1, hidden: 64, heads: 2, vocabulary: 256}}
cluster:
  name: c
  gpu: a100-80
  nodes: 2
  gpus_per_node: 2
  intra_node: {{bandwidth: 100 GB/s, latency: 0 us}}
  inter_node: {{nics_per_node: {}, bandwidth: 25 GB/s, latency: 0 us}}
training: {{sequence_length: 16, global_batch: 2, precision: fp16, gradient_clipping: false}}
parallelism: {{tensor: 2, data: {{overlap: false}}}}
collectives: {{all_reduce: ring}}
host: {{launch: 0 us}}
)",
                                                   nics)),
                              paper_graph(paper_layer(4_ms, 6_ms, kMessage / 2), 1));
  return experiment.step_seconds() - kCompute;
}

}  // namespace

TEST_CASE("a flow joined at half time ends at 1.5 s, the one that joined at 2.0 s") {
  const std::vector<double> dates = ends({0, 0.5});
  CHECK(dates[0] == nine_digits(1.5));
  CHECK(dates[1] == nine_digits(2.0));
}

TEST_CASE("k flows on one link take k times as long as one") {
  for (std::size_t k = 1; k <= 6; ++k) {
    for (const double date : ends(std::vector<double>(k, 0.0)))
      CHECK(date == nine_digits(static_cast<double>(k)));
  }
}

TEST_CASE("a flow that is slower by itself leaves the rest of the link to the others") {
  // 30 GB/s each: three of them fit, of four each gets 25 GB/s.
  for (const double date : ends({0, 0, 0}, 1, 30e9)) CHECK(date == nine_digits(100 / 30.0));
  for (const double date : ends({0, 0, 0, 0}, 1, 30e9)) CHECK(date == nine_digits(4.0));
}

TEST_CASE("a route that lists a link k times takes k shares of it") {
  CHECK(ends({0}, 3)[0] == nine_digits(3.0));
}

TEST_CASE("two pipeline transfers on one NIC take twice as long as on two") {
  CHECK(two_replicas(2, 2, "nics_per_node: 2") == nine_digits(2 * kMessage / kNic));
  CHECK(two_replicas(2, 2, "nics_per_node: 1") == nine_digits(2 * 2 * kMessage / kNic));
}

TEST_CASE("two data-parallel groups on one NIC take twice as long as on two") {
  // A ring of two carries 2(n-1)/n S = S over each NIC.
  CHECK(two_groups(2) == nine_digits(kMessage / kNic));
  CHECK(two_groups(1) == nine_digits(2 * kMessage / kNic));
}

TEST_CASE("the up-link of an oversubscribed leaf limits what leaves it") {
  for (const double factor : {1.0, 2.0, 4.0, 10.0}) {
    CAPTURE(factor);
    const double time = two_replicas(
        4, 1, fmt::format("topology: fat_tree, nodes_per_leaf: 2, oversubscription: {}", factor));
    CHECK(time == nine_digits(factor * 2 * kMessage / kNic));
  }
}

TEST_CASE("traffic that stays below a leaf does not feel its up-link") {
  const double time =
      two_replicas(4, 1, "topology: fat_tree, nodes_per_leaf: 4, oversubscription: 10");
  CHECK(time == nine_digits(2 * kMessage / kNic));
}

TEST_CASE("another job's traffic takes what it asks for, at most its fair share") {
  // Activations go out of node 0, gradients into it: 1 GB each over a NIC of 25 GB/s, of which two
  // replicas share one. Others send 10 GB/s out of it all the time, which leaves 15 GB/s; of 100
  // GB/s they get what each of the transfers gets, a third.
  const auto others = [](const char* rate) {
    return fmt::format("  background: [{{links: node 0 nic 0 up, rate: {}}}]", rate);
  };
  const std::string fabric = "nics_per_node: 1";
  const double alone = 2 * kMessage / kNic;
  CHECK(two_replicas(2, 2, fabric, others("5 GB/s")) ==
        nine_digits(2 * kMessage / (kNic - 5e9) + alone));
  CHECK(two_replicas(2, 2, fabric, others("100 GB/s")) ==
        nine_digits(kMessage / (kNic / 3) + alone));
}

TEST_CASE("background that several entries state adds up, and spares other links") {
  const double alone = kMessage / kNic;
  CHECK(two_replicas(4, 1, "topology: rail",
                     "  background: [{links: node * nic * up, rate: 3 GB/s}, "
                     "{links: node 0 *, rate: 2 GB/s}]") ==
        nine_digits(kMessage / (kNic - 5e9) + kMessage / (kNic - 3e9)));
  CHECK(two_replicas(4, 1, "topology: rail",
                     "  background: [{links: node 9* nic * up, rate: 3 GB/s}]") ==
        nine_digits(2 * alone));
}

TEST_CASE("a ring over a PCIe node is as fast as what joins its CPUs, and shares it with others") {
  // Four GPUs below two CPUs: the ring of an all-reduce crosses from one CPU to the other once each
  // way, with 2(n-1)/n S. With 8 GB/s there it takes that long, and with 3 GB/s of others' traffic
  // 5 GB/s are left.
  const auto exposed = [](const std::string& more, double scale = 1) {
    const Experiment experiment(on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: 1, width: 1}}
cluster:
  name: c
  gpu: a100-80
  gpus_per_node: 4
  intra_node: {{bandwidth: 20 GB/s, latency: 0 us}}
  node_topology: {{kind: pcie, socket_bandwidth: 8 GB/s}}
{}
training: {{global_batch: 4, precision: fp16, gradient_clipping: false}}
parallelism: {{data: {{overlap: false}}}}
host: {{launch: 0 us}}
)",
                                                     more)),
                                paper_graph(paper_layer(4_ms, 6_ms, scale * kMessage / 2), 1));
    const double folded = experiment.step_seconds() - kCompute;
    CHECK(folded == nine_digits(experiment.step_seconds({.fold = false}) - kCompute));
    return folded;
  };
  const double moved = 2 * 3.0 / 4 * kMessage;
  CHECK(exposed("") == nine_digits(moved / 8e9));
  CHECK(exposed("  background: [{links: node 0 cpu 0 to cpu 1, rate: 3 GB/s}]") ==
        nine_digits(moved / 5e9));
  // For an hour, too, in which the others move more than the engine counts at a time.
  CHECK(exposed("  background: [{links: node 0 cpu 0 to cpu 1, rate: 5 GB/s}]", 8000) ==
        nine_digits(8000 * moved / 4e9));
}
