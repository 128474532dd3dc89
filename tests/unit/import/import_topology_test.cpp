// Imports of what other programs say of a node: tables of `nvidia-smi topo -m` and NCCL's XML,
// composed here from the documented formats.
#include <functional>
#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/cluster/network.hpp"
#include "sim/core/error.hpp"
#include "sim/import/node/observed_node.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"
#include "tests/unit/import/written_cluster.hpp"

using namespace stepsim;

namespace {

/// A table as the program prints it; `cell` says what joins two devices ("gpu 0", "nic 3").
std::string table(int gpus, int nics,
                  const std::function<std::string(char, int, char, int)>& cell) {
  std::vector<std::pair<char, int>> devices;
  for (int i = 0; i < gpus; ++i) devices.emplace_back('G', i);
  for (int i = 0; i < nics; ++i) devices.emplace_back('N', i);
  const auto name = [](const auto& d) {
    return fmt::format("{}{}", d.first == 'G' ? "GPU" : "NIC", d.second);
  };
  std::string text;
  for (const auto& device : devices) text += "\t\x1b[4m" + name(device) + "\x1b[0m";
  text += "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  for (const auto& row : devices) {
    text += name(row);
    for (const auto& column : devices) {
      text += "\t";
      text += row == column ? " X " : cell(row.first, row.second, column.first, column.second);
    }
    if (row.first == 'G') {
      const int numa = row.second * 2 / gpus;
      text += fmt::format("\t{}-{}\t{}\tN/A", 20 * numa, 20 * numa + 19, numa);
    }
    text += "\n";
  }
  return text + "\nLegend:\n\n  X    = Self\n";
}

/// Eight V100, each two with a NIC below one switch.
std::string dgx_1v() {
  const std::map<std::pair<int, int>, int> mesh = {
      {{0, 1}, 1}, {{0, 2}, 1}, {{0, 3}, 2}, {{0, 4}, 2}, {{1, 2}, 2}, {{1, 3}, 1},
      {{1, 5}, 2}, {{2, 3}, 2}, {{2, 6}, 1}, {{3, 7}, 1}, {{4, 5}, 1}, {{4, 6}, 1},
      {{4, 7}, 2}, {{5, 6}, 2}, {{5, 7}, 1}, {{6, 7}, 2}};
  return table(8, 4, [&](char a, int i, char b, int k) -> std::string {
    if (a == 'G' && b == 'G') {
      const auto links = mesh.find(std::minmax(i, k));
      return links == mesh.end() ? "SYS" : fmt::format("NV{}", links->second);
    }
    const int first = a == 'G' ? i / 2 : i, second = b == 'G' ? k / 2 : k;
    return first == second ? "PIX" : first / 2 == second / 2 ? "PHB" : "SYS";
  });
}

/// Eight GPUs on NVSwitch, ten NICs of which NIC 1 and NIC 6 are for storage.
std::string dgx_h100() {
  const auto place = [](char device, int i) {  // slots 0 to 7 with a GPU, 8 and 9 without
    if (device == 'G') return i;
    const int slots[] = {0, 8, 1, 2, 3, 4, 9, 5, 6, 7};
    return slots[i];
  };
  return table(8, 10, [&](char a, int i, char b, int k) -> std::string {
    if (a == 'G' && b == 'G') return "NV18";
    const int first = place(a, i), second = place(b, k);
    const auto numa = [](int slot) { return slot < 8 ? slot / 4 : slot - 8; };
    return first == second ? "PXB" : numa(first) == numa(second) ? "NODE" : "SYS";
  });
}

/// Eight cards, two below each switch, a NIC on either CPU.
std::string pcie_box() {
  return table(8, 2, [](char a, int i, char b, int k) -> std::string {
    const auto numa = [](char device, int n) { return device == 'G' ? n / 4 : n; };
    if (a == 'G' && b == 'G' && i / 2 == k / 2) return "PIX";
    return numa(a, i) == numa(b, k) ? "NODE" : "SYS";
  });
}

std::string error_of(const std::string& table) {
  try {
    read_topo_matrix(table, "topo.txt");
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

std::string nvlinks(int count) {
  return fmt::format("<nvlink target=\"ffff:ff:ff.0\" count=\"{}\" tclass=\"0x068000\"/>", count);
}

/// Two CPUs, below each a switch with two GPUs and a NIC.
std::string nccl(const std::string& links, int sm, const std::string& cpu) {
  std::string text = "<system version=\"1\">\n";
  for (int numa = 0; numa < 2; ++numa) {
    text += fmt::format("  <cpu numaid=\"{}\" arch=\"x86_64\" {}>\n", numa, cpu);
    text += fmt::format(
        "    <pci busid=\"0000:{}0:00.0\" class=\"0x060400\" link_speed=\"16.0 GT/s PCIe\" "
        "link_width=\"16\">\n",
        numa);
    for (int i = 0; i < 2; ++i) {
      text += fmt::format(
          "      <pci busid=\"0000:{}{}:00.0\" class=\"0x030200\" link_speed=\"16.0 GT/s PCIe\" "
          "link_width=\"16\"><gpu dev=\"{}\" sm=\"{}\" rank=\"{}\" gdr=\"1\">{}</gpu></pci>\n",
          numa, i + 1, 2 * numa + i, sm, 2 * numa + i, links);
    }
    text += fmt::format(
        "      <pci busid=\"0000:{0}9:00.0\" class=\"0x020700\" link_speed=\"8.0 GT/s PCIe\" "
        "link_width=\"16\"><nic><net name=\"mlx5_{0}\" dev=\"{0}\" speed=\"100000\" port=\"1\"/>"
        "</nic></pci>\n    </pci>\n  </cpu>\n",
        numa);
  }
  return text + "</system>\n";
}

}  // namespace

TEST_CASE("NV18 between all GPUs is an NVSwitch, with the NICs that are nearest") {
  const std::string text = cluster_text(read_topo_matrix(dgx_h100(), "topo.txt"), "");
  const Cluster cluster = cluster_of(text, 2);
  CHECK(cluster.gpu.name == "h100");
  CHECK(cluster.node_topology.kind == "nvswitch");
  CHECK(cluster.intra_node.name == "nvlink4");
  CHECK(cluster.inter_node->nics_per_node == 8);
  CHECK(text.find("NIC0, NIC2, NIC3, NIC4, NIC5, NIC7, NIC8, NIC9; the others are left out") !=
        std::string::npos);
  const std::string b200 = cluster_text(read_topo_matrix(dgx_h100(), "topo.txt"), "b200");
  CHECK(cluster_of(b200).intra_node.name == "nvlink5");
}

TEST_CASE("the NVLinks of a DGX-1 are recognised") {
  const Cluster cluster = cluster_of(cluster_text(read_topo_matrix(dgx_1v(), "topo.txt"), ""), 2);
  CHECK(cluster.gpu.name == "v100");
  CHECK(cluster.node_topology.kind == "hybrid_cube_mesh");
  CHECK(cluster.inter_node->nics_per_node == 4);
}

TEST_CASE("a node without NVLinks is drawn as far as the table tells") {
  const Cluster cluster =
      cluster_of(cluster_text(read_topo_matrix(pcie_box(), "topo.txt"), "v100"), 2);
  const Network network(cluster);
  CHECK(cluster.node_topology.kind == "custom");
  CHECK(network.inside(0, 1).size() == 2);  // the switch
  CHECK(network.inside(0, 2).size() == 4);  // two switches and the CPU
  CHECK(network.inside(0, 7).size() == 5);  // two switches, the CPU and the other CPU
  CHECK(network.to_nic(5).size() == 3);
  CHECK(network.links()[network.inside(0, 1)[0]].bandwidth == 12_GBps);
}

TEST_CASE("half a DGX-1 has NVLinks, which are drawn with what lies below") {
  std::string text = table(4, 0, [](char, int i, char, int k) -> std::string {
    return i / 2 == k / 2 ? "NV2" : i % 2 == k % 2 ? "NV1" : "PHB";
  });
  const Cluster cluster = cluster_of(cluster_text(read_topo_matrix(text, "topo.txt"), "v100"));
  const Network network(cluster);
  CHECK(network.name_of(network.inside(0, 1)[0]) == "node 0 gpu 0 to gpu 1");
  CHECK(network.links()[network.inside(0, 1)[0]].bandwidth == 40_GBps);
  CHECK(network.inside(0, 3).size() == 2);
  CHECK_FALSE(cluster.inter_node.has_value());
}

TEST_CASE("what is no such table is refused, all mistakes in one go and each with its place") {
  CHECK(error_of("hello\n").find("topo.txt:1:1: no line begins with GPU0") == 0);
  const std::string text =
      "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNVX\t0-9\nGPU1\tPIXX\t X \t0-9\n";
  CHECK(error_of(text).find("topo.txt:2:10: 'NVX' is none of X, NV#") == 0);
  CHECK(error_of(text).find("topo.txt:3:6: 'PIXX' is none of") != std::string::npos);
  CHECK(error_of("\tGPU0\tGPU1\nGPU0\t X \nGPU1\tSYS\t X \n").find("1 cells for 2 devices") !=
        std::string::npos);
  CHECK(error_of("\tGPU0\tGPU1\nGPU0\t X \tSYS\n").find("2 devices, but 1 rows") !=
        std::string::npos);
}

TEST_CASE("NVLinks to NVSwitch in NCCL's topology make the node one") {
  const std::string cpu = "vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\"";
  const std::string text =
      cluster_text(read_nccl_topology(nccl(nvlinks(18), 90, cpu), "t.xml"), "");
  const Cluster cluster = cluster_of(text, 2);
  CHECK(cluster.gpu.name == "h100");
  CHECK(cluster.gpus_per_node == 4);
  CHECK(cluster.node_topology.kind == "nvswitch");
  CHECK(cluster.inter_node->nics_per_node == 2);
  CHECK(cluster.inter_node->bandwidth == 12.5_GBps);
}

TEST_CASE("the PCIe tree of NCCL's topology is drawn with its speeds") {
  const std::string cpu = "vendor=\"AuthenticAMD\" familyid=\"143\" modelid=\"49\"";
  const std::string text = cluster_text(read_nccl_topology(nccl("", 80, cpu), "t.xml"), "");
  const Cluster cluster = cluster_of(text, 2);
  const Network network(cluster);
  const auto width = [&](LinkId link) {
    return network.links()[link].bandwidth.bytes_per_second() / 1e9;
  };
  CHECK(cluster.gpu.name == "a100-80");
  const auto across = network.inside(0, 2);
  REQUIRE(across.size() == 5);
  CHECK(width(across[0]) == doctest::Approx(24));  // 16 GT/s over 16 lanes
  CHECK(width(across[2]) == doctest::Approx(16));  // between AMD's CPUs
  const auto out = network.to_nic(3);
  REQUIRE(out.size() == 2);
  CHECK(width(out[1]) == doctest::Approx(12));
}

TEST_CASE("a file that is no topology says so") {
  const auto error = [](const std::string& text) -> std::string {
    try {
      read_nccl_topology(text, "t.xml");
    } catch (const UserError& problem) {
      return problem.what();
    }
    return "none";
  };
  CHECK(error("<system>\n  <cpu numaid=\"0>\n</system>\n").find("t.xml:") == 0);
  CHECK(
      error("<graphs/>").find("no GPU in it, neither a gpu element nor a device of class 0x0302") !=
      std::string::npos);
}

TEST_CASE("a topology that no machine has is refused with its place") {
  const auto error = [](const std::string& inside) -> std::string {
    try {
      read_nccl_topology("<system><cpu>\n" + inside + "</cpu></system>\n", "t.xml");
    } catch (const UserError& problem) {
      return problem.what();
    }
    return "none";
  };
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    while (times-- > 0) all += text;
    return all;
  };
  const std::string gpu = "<pci class=\"0x030200\"/>\n";
  CHECK(error(repeated("<pci>", 30'000) + gpu + repeated("</pci>", 30'000))
            .starts_with("t.xml:2:322: switches inside each other more than 64 deep\n"));
  CHECK(error(repeated(gpu, 1025)).starts_with("t.xml:1026:2: more than 1024 GPUs\n"));
  CHECK(error(gpu + repeated("<nic><net name=\"a\"/></nic>\n", 1025))
            .starts_with("t.xml:1027:7: more than 1024 NICs\n"));
  CHECK(error(gpu + repeated("<pci><pci/></pci>\n", 1025))
            .starts_with("t.xml:1026:2: more than 1024 switches and CPUs\n"));
  for (const char* count : {"2000000000", "-1"})
    CHECK(
        error(fmt::format("<pci><gpu><nvlink tclass=\"0x068000\" count=\"{}\"/></gpu></pci>\n",
                          count))
            .starts_with(fmt::format("t.xml:2:12: count '{}' is not between 0 and 1024\n", count)));
}

TEST_CASE("a GPU that imports do not know is refused") {
  CHECK_THROWS_WITH_AS(cluster_text(read_topo_matrix(pcie_box(), "t"), "h10"),
                       doctest::Contains("did you mean 'h100'?"), UserError);
}
