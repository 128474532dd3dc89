// The table and the picture of a cluster's links.

#include <sstream>

#include <doctest/doctest.h>

#include "sim/cluster/network.hpp"
#include "sim/command/show.hpp"
#include "sim/core/error.hpp"

using namespace stepsim;

namespace {

Cluster cluster_of(int nodes, Fabric fabric, NodeLayout layout = {}) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = 2;
  cluster.gpu.name = "gpu";
  cluster.intra_node = {.name = "link", .bandwidth = BytesPerSecond{100e9}};
  cluster.node_topology = std::move(layout);
  fabric.nics_per_node = 1;
  fabric.bandwidth = BytesPerSecond{25e9};
  cluster.inter_node = std::move(fabric);
  return cluster;
}

std::string table_of(const Cluster& cluster) {
  std::ostringstream out;
  show_links("c", Network(cluster), out);
  return out.str();
}

std::string picture_of(const Cluster& cluster) {
  std::ostringstream out;
  draw_links("c", Network(cluster), out);
  return out.str();
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("links that differ in numbers alone are one line, whose name is a pattern for all") {
  Cluster cluster =
      cluster_of(4, {.topology = "fat_tree", .nodes_per_leaf = 2, .oversubscription = {2}});
  cluster.background = {{"leaf 1 up", BytesPerSecond{5e9}}};
  CHECK(table_of(cluster) ==
        "c: 4 nodes of 2 gpu\n"
        "inside nodes, nvswitch:\n"
        "  node * gpu * out          8 x   100 GB/s   node * gpu * to node * nvswitch\n"
        "  node * gpu * in           8 x   100 GB/s   node * nvswitch to node * gpu *\n"
        "between nodes, fat_tree:\n"
        "  node * nic * up            4 x  25.0 GB/s   node * nic * to leaf *\n"
        "  node * nic * down          4 x  25.0 GB/s   leaf * to node * nic *\n"
        "  leaf * up                  1 x  25.0 GB/s   leaf * to spine\n"
        "  leaf * down                2 x  25.0 GB/s   spine to leaf *\n"
        "  leaf * up                  1 x  25.0 GB/s   leaf * to spine, 5.00 GB/s of others\n"
        "bisection: 25.0 GB/s each way, 50.0 % of what the NICs of half of the nodes send\n");
}

TEST_CASE("a small cluster is drawn whole, its first node from inside") {
  const std::string text = picture_of(cluster_of(3, {}, {.kind = "pcie"}));
  CHECK(text.starts_with("digraph \"c\" {\n"));
  CHECK(text.ends_with("}\n"));
  CHECK(count(text, "\"node 0 gpu 1\" [") == 1);
  CHECK(count(text, "\"node 1 gpu 1\"") == 0);
  CHECK(count(text, "\"node 2\" [") == 1);
  CHECK(text.find("\"node 0 gpu 0\" -> \"node 0 switch 0\" [label=\"100 GB/s\", dir=both];") !=
        std::string::npos);
  CHECK(text.find("\"node 1\" -> \"rail 0\" [label=\"25.0 GB/s\", dir=both];") !=
        std::string::npos);
  CHECK(text.find("dotted") == std::string::npos);
}

TEST_CASE("of a large cluster a few nodes of a few regions are drawn, and the picture says so") {
  const std::string text = picture_of(
      cluster_of(512, {.topology = "fat_tree", .nodes_per_leaf = 8, .leaves_per_pod = 4}));
  CHECK(text.find("512 nodes of 2 gpu; 8 of them here") != std::string::npos);
  CHECK(count(text, "box3d") == 7);
  CHECK(text.find("\"leaf 5\"") != std::string::npos);
  CHECK(text.find("\"leaf 2\"") == std::string::npos);
  CHECK(text.find("style=dotted") != std::string::npos);
  CHECK(count(picture_of(cluster_of(512, {.topology = "torus", .sizes = {8, 8, 8}})), "box3d") ==
        7);
}

TEST_CASE("links of two directions that differ are two arrows") {
  const std::string text = picture_of(
      cluster_of(2, {.topology = "custom",
                     .switches = {"s"},
                     .links = {{"node 0..1", "s", BytesPerSecond{50e9}, BytesPerSecond{20e9}}}}));
  CHECK(text.find("\"node 1\" -> \"s\" [label=\"50.0 GB/s\"];") != std::string::npos);
  CHECK(text.find("\"s\" -> \"node 1\" [label=\"20.0 GB/s\"];") != std::string::npos);
}

TEST_CASE("only clusters can be drawn") {
  std::ostringstream out;
  CHECK_THROWS_AS(show({.what = "plan", .scenario = {}, .dot = true}, out), UserError);
}
