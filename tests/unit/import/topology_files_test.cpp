// Topologies as people have them: files that NCCL reads, tables of older drivers, cards with two
// ports, modules of GPU and CPU. What the source leaves out is listed as assumed.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/import/node/observed_node.hpp"
#include "tests/unit/import/written_cluster.hpp"

using namespace stepsim;

namespace {

Draft of_table(const std::string& text, const std::string& gpu = "") {
  return cluster_draft(read_topo_matrix(text, "topo.txt"), gpu);
}
Draft of_xml(const std::string& text, const std::string& gpu = "") {
  return cluster_draft(read_nccl_topology(text, "topo.xml"), gpu);
}

/// "gpu a100-80; NICs ..." of what was assumed.
std::string assumed(const Draft& draft) {
  std::string text;
  for (const Assumption& one : draft.assumptions()) text += one.what + " " + one.value + "; ";
  return text;
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What NCCL_TOPO_FILE names for a virtual machine: the tree alone, in comments what is what.
std::string static_topology(int switches) {
  std::string text = "<!-- eight GPUs -->\n<system version=\"1\">\n";
  for (int cpu = 0; cpu < 2; ++cpu) {
    text += fmt::format(
        "  <cpu numaid=\"{}\" affinity=\"00ff\" arch=\"x86_64\" vendor=\"GenuineIntel\" "
        "familyid=\"6\" modelid=\"85\">\n",
        cpu);
    for (int i = 0; i < switches / 2; ++i) {
      const int bus = 2 * cpu + i + 1;
      text += fmt::format(
          "    <pci busid=\"ffff:ff:0{0}.0\" class=\"0x060400\" link_speed=\"8 GT/s\" "
          "link_width=\"16\"> <!-- a switch -->\n"
          "      <pci busid=\"0000:{0}0:1c.0\" class=\"0x030200\" link_speed=\"8 GT/s\" "
          "link_width=\"16\"/> <!-- a GPU -->\n"
          "      <pci busid=\"0000:{0}0:1d.0\" class=\"0x030200\" link_speed=\"8 GT/s\" "
          "link_width=\"16\"/>\n"
          "      <pci busid=\"0000:{0}0:1b.0\" class=\"0x020{1}00\" link_speed=\"8 GT/s\" "
          "link_width=\"16\"/>\n    </pci>\n",
          bus, i % 2 == 0 ? 0 : 7);
    }
    text += "  </cpu>\n";
  }
  return text + "</system>\n";
}

/// Two GPUs with 12 NVLinks, two devices of ConnectX; `gpu` and `nic` say how near they are.
std::string two_ports(const std::string& to_gpu, const std::string& to_nic) {
  return fmt::format(
      "\tGPU0\tGPU1\tmlx5_0\tmlx5_1\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV12\t{0}\t{0}\t0-31\t0\nGPU1\tNV12\t X \t{0}\t{0}\t0-31\t0\n"
      "mlx5_0\t{0}\t{0}\t X \t{1}\t\t\nmlx5_1\t{0}\t{0}\t{1}\t X \t\t\n",
      to_gpu, to_nic);
}

/// Four GPUs of two sockets, without NVLinks and without a column of NUMA nodes, aligned by blanks.
const char* const kCpusAlone =
    "        GPU0  GPU1  GPU2  GPU3  CPU Affinity\n"
    "GPU0     X    PIX   SYS   SYS   0-15,32-47\n"
    "GPU1    PIX    X    SYS   SYS   0-15,32-47\n"
    "GPU2    SYS   SYS    X    PIX   16-31,48-63\n"
    "GPU3    SYS   SYS   PIX    X    16-31,48-63\n";

/// `links` NVLinks between each two of so many GPUs, `nics` NICs near each of them.
std::string modules(int gpus, int links, int nics) {
  std::string text, names;
  for (int i = 0; i < gpus; ++i) names += fmt::format("\tGPU{}", i);
  for (int i = 0; i < gpus * nics; ++i) names += fmt::format("\tNIC{}", i);
  text = names + "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  for (int row = 0; row < gpus * (1 + nics); ++row) {
    const bool is_gpu = row < gpus;
    const int module = is_gpu ? row : (row - gpus) / nics;
    text += is_gpu ? fmt::format("GPU{}", row) : fmt::format("NIC{}", row - gpus);
    for (int column = 0; column < gpus * (1 + nics); ++column) {
      const bool to_gpu = column < gpus;
      const int other = to_gpu ? column : (column - gpus) / nics;
      text += row == column      ? "\t X "
              : is_gpu && to_gpu ? fmt::format("\tNV{}", links)
              : module != other  ? "\tSYS"
              : is_gpu != to_gpu ? "\tC2C"
                                 : "\tPHB";
    }
    if (is_gpu) text += fmt::format("\t{}-{}\t{}\t{}", 72 * row, 72 * row + 71, row, 4 + 8 * row);
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("GPUs and NICs of a file that NCCL reads are known by their class") {
  const Draft draft = of_xml(static_topology(4));
  const Cluster cluster = cluster_of(draft.text(), 2);
  CHECK(cluster.gpus_per_node == 8);
  CHECK(cluster.node_topology.kind == "nvswitch");
  CHECK(cluster.inter_node->nics_per_node == 4);
  CHECK(has(assumed(draft), "gpu a100-80; node_topology nvswitch; "));
  CHECK(has(assumed(draft), "inter_node.bandwidth 200 Gbit/s a NIC; "));
  const Cluster cards = cluster_of(of_xml(static_topology(4), "l40s").text(), 2);
  CHECK(cards.node_topology.kind == "custom");
  CHECK(cards.inter_node->nics_per_node == 4);
}

TEST_CASE("a file without a GPU is refused with the way to one that has them") {
  const std::string bare =
      "<system version=\"1\">\n<cpu numaid=\"0\">\n<pci busid=\"0000:00:16.0\"/>\n</cpu>\n"
      "</system>\n";
  CHECK_THROWS_WITH_AS(read_nccl_topology(bare, "topo.xml"),
                       doctest::Contains("with NCCL_TOPO_DUMP_FILE=topo.xml and import that file"),
                       UserError);
}

TEST_CASE("two ports that no GPU is as near to as they are to each other count as one NIC") {
  const Draft one = of_table(two_ports("PXB", "PIX"));
  CHECK(cluster_of(one.text(), 2).inter_node->nics_per_node == 1);
  CHECK(has(assumed(one), "NICs mlx5_0+1 (one each); "));
  const Draft two = of_table(two_ports("PIX", "PIX"));
  CHECK(cluster_of(two.text(), 2).inter_node->nics_per_node == 2);
  CHECK(has(assumed(two), "NICs mlx5_0+1 (two each); "));
  CHECK_FALSE(has(assumed(of_table(two_ports("PXB", "PXB"))), "NICs"));
}

TEST_CASE("five cards of two ports, one far from all GPUs, are four NICs for eight GPUs") {
  std::string text;
  for (int i = 0; i < 8; ++i) text += fmt::format("\tGPU{}", i);
  for (int i = 0; i < 10; ++i) text += fmt::format("\tmlx5_{}", i);
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (int row = 0; row < 18; ++row) {
    text += row < 8 ? fmt::format("GPU{}", row) : fmt::format("mlx5_{}", row - 8);
    for (int column = 0; column < 18; ++column) {
      const bool gpus = row < 8 && column < 8, nics = row >= 8 && column >= 8;
      const auto pair = [](int device) { return (device < 8 ? device : device - 8) / 2; };
      text += row == column               ? "\t X "
              : gpus                      ? "\tNV12"
              : pair(row) != pair(column) ? "\tSYS"
              : nics                      ? "\tPIX"
                                          : "\tPXB";
    }
    if (row < 8) text += fmt::format("\t{}-{}\t{}", 8 * row, 8 * row + 7, 7 - row / 2);
    text += "\n";
  }
  const Draft draft = of_table(text);
  CHECK(cluster_of(draft.text(), 2).inter_node->nics_per_node == 4);
  CHECK(has(draft.text(), "nics_per_node: 4  # mlx5_0, mlx5_2, mlx5_4, mlx5_6"));
}

TEST_CASE("the CPUs of a GPU tell its NUMA node where no column does") {
  const Cluster cluster = cluster_of(of_table(kCpusAlone, "a100-40").text());
  CHECK(cluster.node_topology.kind == "custom");
  CHECK(cluster.node_topology.switches ==
        std::vector<std::string>{"switch 0", "switch 1", "cpu 0", "cpu 1"});
}

TEST_CASE("modules of GPU and CPU: links to each other, C2C, more NICs than GPUs") {
  const Draft four = of_table(modules(4, 6, 1));
  const Cluster alps = cluster_of(four.text(), 2);
  CHECK(alps.gpu.name == "h100");
  CHECK(alps.inter_node->nics_per_node == 4);
  CHECK(alps.node_topology.kind == "custom");
  const Draft two = of_table(modules(2, 18, 2));
  CHECK(cluster_of(two.text(), 2).inter_node->nics_per_node == 2);
  CHECK(has(assumed(two), "inter_node.nics_per_node 2 of 4 NICs; "));
  CHECK(has(assumed(two), "gpu h100; "));
}

TEST_CASE("a capability that several GPUs have is said to be one of them") {
  std::string text = static_topology(4);
  for (std::size_t at = text.find("class=\"0x030200\""); at != std::string::npos;
       at = text.find("class=\"0x030200\"", at + 1)) {
    const std::size_t end = text.find("/>", at);
    text.replace(end, 2, "><gpu dev=\"0\" sm=\"80\" rank=\"0\"/></pci>");
  }
  const Draft draft = of_xml(text);
  CHECK(has(draft.text(), "gpu a100-80: sm 80 is also that of a100-40 (state it: --gpu NAME)"));
}
