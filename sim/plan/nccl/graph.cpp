// Computes what NCCL's graph search finds on symmetric nodes, in closed form.
#include "sim/plan/nccl/graph.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace stepsim::nccl {
namespace {

// The speeds that the search tries, in GB/s of one channel (src/graph/search.cc).
constexpr double kInsideAmpere[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr double kInsideHopper[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr double kInsideBlackwell[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr double kBetweenAmpere[] = {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr double kBetweenHopper[] = {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3};
constexpr double kBetweenBlackwell[] = {96, 86, 80, 48,   45, 42, 40, 30,
                                        24, 22, 20, 17.5, 15, 12, 6,  3};

std::span<const double> speeds_inside(Architecture a) {
  if (a == Architecture::blackwell) return kInsideBlackwell;
  if (a == Architecture::hopper) return kInsideHopper;
  return kInsideAmpere;
}

std::span<const double> speeds_between(Architecture a) {
  if (a == Architecture::blackwell) return kBetweenBlackwell;
  if (a == Architecture::hopper) return kBetweenHopper;
  return kBetweenAmpere;
}

/// The most channels of one search. They may be split and are doubled afterwards (MAXCHANNELS is
/// 64).
constexpr int kMostChannels = 16;

/// The first speed that is not above `most`, or the last of the list where all are.
double speed_up_to(double most, std::span<const double> speeds) {
  const auto fits =
      std::ranges::find_if(speeds, [&](double speed) { return speed <= most * (1 + 1e-9); });
  return fits == speeds.end() ? speeds.back() : *fits;
}

/// The rate of a GPU's links in one direction that NCCL counts with, in GB/s: 20, 20, 20.6 and 40.1
/// for an NVLink of 25, 25, 25 and 50 (src/graph/topo.h), 12 for a PCIe 3 x16 of 15.75.
double counted(const Communicator& c) {
  const double rate = c.link.bytes_per_second() / 1e9;
  if (!c.nvlink) return rate * 12 / 15.75;
  if (c.architecture == Architecture::blackwell) return rate * 40.1 / 50;
  if (c.architecture == Architecture::hopper) return rate * 20.6 / 25;
  return rate * 20 / 25;
}

/// Splits fast channels: half the speed in twice as many channels (ncclTopoDupChannels).
Graph split(Graph graph, Architecture architecture) {
  const bool many = architecture >= Architecture::hopper && graph.inside < 50 && graph.channels > 4;
  if (graph.inside < 25 || many) return graph;
  return {graph.channels * 2, graph.inside / 2, graph.between / 2};
}

/// The channels of rings and trees in one node: the speed that fills the links best, the faster one
/// of equals.
Graph inside_node(const Communicator& c) {
  Graph best;
  for (const double speed : speeds_inside(c.architecture)) {
    const double fit = std::floor(counted(c) / speed * (1 + 1e-9));
    const int channels = static_cast<int>(std::min<double>(fit, kMostChannels));
    if (channels * speed > best.channels * best.inside * (1 + 1e-9))
      best = {channels, speed, speed};
  }
  if (best.channels == 0) best = {1, counted(c), counted(c)};
  return split(best, c.architecture);
}

/// The channels of NVLS: a GPU is the head of one channel, as long as there are channels, and
/// carries all channels, its own twice.
Graph multicast(const Communicator& c, int gpus) {
  const int heads = std::min(gpus, kMostHeads);
  for (const double speed : speeds_inside(c.architecture)) {
    if ((heads + 1) * speed <= counted(c)) return {heads, speed, speed};
  }
  return {};
}

Graph between_nodes(const Communicator& c, Algorithm algorithm) {
  const std::span<const double> speeds = speeds_between(c.architecture);
  const double nic = c.nic.bytes_per_second() / 1e9;
  const double between = speed_up_to(nic, speeds);
  // A NIC that is twice as fast as the fastest channel has two channels.
  const double each = std::clamp<double>(nic / speeds.front(), 1, kMostChannels);
  const int channels = std::max(c.nics, 1) * static_cast<int>(each);
  if (c.ranks_per_node() == 1) {
    const Graph graph{channels, between, between};
    return algorithm == Algorithm::pat ? graph : split(graph, c.architecture);
  }
  const double room = counted(c) / channels;  // what one channel can have inside the node
  if (algorithm == Algorithm::ring) {
    const double speed = std::min(between, room);
    return split({channels, speed, speed}, c.architecture);
  }
  // Trees and CollNet carry up to twice as much inside a node as between nodes.
  const Graph graph{
      channels, std::max(speed_up_to(std::min(room, 2 * between), speeds), std::min(room, between)),
      between};
  return algorithm == Algorithm::tree ? split(graph, c.architecture) : graph;
}

}  // namespace

Graph graph_of(const Communicator& c, Algorithm algorithm) {
  if (algorithm == Algorithm::nvls && c.nodes == 1) return multicast(c, c.ranks);
  if (algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree) {
    Graph graph = multicast(c, std::min(c.ranks_per_node(), std::max(c.nics, 1)));
    graph.between = speed_up_to(c.nic.bytes_per_second() / 1e9, speeds_between(c.architecture));
    return graph;
  }
  return c.nodes == 1 ? inside_node(c) : between_nodes(c, algorithm);
}

}  // namespace stepsim::nccl
