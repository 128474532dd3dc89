// Topologies as they are pasted: behind tags, in Markdown, wrapped by a terminal, with columns that
// ran together, of a GPU that has lost its NVLinks, and without what the program can show.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/node/observed_node.hpp"
#include "tests/unit/import/written_cluster.hpp"

using namespace stepsim;

namespace {

constexpr int kGpus = 4;

/// Four GPUs, of which the one that is `lost` hangs on PCIe; `links` joins each two ("NV12").
std::string table(const std::string& links, const std::string& gpu_numa = "N/A", int lost = -1) {
  std::string text = "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  for (int row = 0; row < kGpus; ++row) {
    text += fmt::format("GPU{}", row);
    for (int column = 0; column < kGpus; ++column)
      text += "\t" + (row == column ? " X " : row == lost || column == lost ? "SYS" : links);
    text += fmt::format("\t0-31\t{}\t\t{}\n", row / 2, gpu_numa);
  }
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

std::string pasted(const std::string& text) {
  return cluster_text(read_topo_matrix(text, "topo.txt"), "");
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("tags, bars and quotes stand before and between the cells") {
  const std::string plain = table("NV12"), expected = pasted(plain);
  for (const char* tag : {"node-1: ", "[1,0]<stdout>:", "> ", "2026-01-31T12:00:00Z "})
    CHECK(pasted(tag + replaced(plain, "\n", std::string("\n") + tag)) == expected);
  CHECK(pasted("| " + replaced(replaced(plain, "\t", " | "), "\n", " |\n| ")) == expected);
}

TEST_CASE("lines that a terminal wrapped between two cells are rows again") {
  const std::string plain = table("NV12"), expected = pasted(plain);
  CHECK(pasted(replaced(plain, "\tGPU2", "\n  \tGPU2")) == expected);  // the header alone
  std::string wrapped;
  std::size_t width = 0;
  for (const char c : plain) {
    width = c == '\n' ? 0 : width + 1;
    const bool breaks = c == '\t' && width > 18;
    if (breaks) width = 0;
    wrapped += breaks ? '\n' : c;
  }
  CHECK(pasted(wrapped) == expected);
}

TEST_CASE("cells that ran together are the cells that they are made of") {
  CHECK(pasted(replaced(table("NV12"), "NV12\tNV12", "NV12NV12")) == pasted(table("NV12")));
  CHECK(pasted(replaced(table("NODE"), "NODE\tNODE", "NODENODE")) == pasted(table("NODE")));
  CHECK_THROWS_WITH_AS(pasted(replaced(table("NODE"), "NODE\tNODE", "NODENOD")),
                       doctest::Contains("'NODENOD' is none of X, NV#"), UserError);
}

TEST_CASE("a GPU without the NVLinks of all others hangs on PCIe alone, and is named") {
  const std::string cluster = pasted(table("NV18", "N/A", 2));
  CHECK(has(cluster, "{from: gpu 0, to: nvswitch, bandwidth: 371 GB/s}"));
  CHECK_FALSE(has(cluster, "{from: gpu 2, to: nvswitch"));
  CHECK(has(cluster, "NVLinks of GPU 2 none"));
  CHECK(has(cluster, "intra_node: {bandwidth: 370.8 GB/s"));
}

TEST_CASE("a table of PCIe alone says nothing of NVLinks") {
  const Draft draft = cluster_draft(
      read_topo_matrix("$ nvidia-smi topo -mp\n" + table("NODE"), "topo.txt"), "h100");
  CHECK(has(draft.text(), "node_topology: nvswitch"));
  CHECK(has(draft.text(), "`nvidia-smi topo -mp` has no NVLinks in it"));
}

TEST_CASE("memory of GPUs that is a NUMA node tells modules with a Grace CPU") {
  CHECK(has(pasted(table("NV18", "9")), "gpu: gb200"));
  CHECK(has(pasted(table("NV6", "9")), "gpu: h100"));
  CHECK(has(pasted(table("NV18")), "gpu: h100"));
}

TEST_CASE("devices of a driver that count on are two ports, with or without the legend of NICs") {
  for (const char* name : {"NIC", "mlx5_", "bnxt_re"}) {
    const std::string text = replaced(
        "\tGPU0\tNIC0\tNIC1\tCPU Affinity\nGPU0\t X \tNODE\tNODE\t0-7\n"
        "NIC0\tNODE\t X \tPIX\nNIC1\tNODE\tPIX\t X \n",
        "NIC", name);
    CHECK(has(pasted(text), fmt::format("NICs {}0+1 (one each)", name)));
  }
}

TEST_CASE("NCCL's files name a GPU by its device, its compute capability or its slot") {
  const auto of_gpu = [](const std::string& device, const std::string& inside) {
    return cluster_text(
        read_nccl_topology("<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\" "
                           "class=\"0x030200\" " +
                               device + " link_width=\"16\">" + inside + "</pci></cpu></system>",
                           "topo.xml"),
        "");
  };
  const std::string known = of_gpu("device=\"0x2335\"", "<gpu dev=\"0\" sm=\"90\"/>");
  CHECK(has(known, "gpu: h200  # device 0x2335"));
  CHECK_FALSE(has(known, "also that of"));
  CHECK(has(of_gpu("", "<gpu dev=\"0\" sm=\"89\"/>"), "sm 89 is also that of other GPUs"));
  CHECK(has(of_gpu("", "<gpu dev=\"0\" sm=\"86\"/>"), "sm 86 is of no GPU known here"));
  CHECK(has(of_gpu("", "<gpu dev=\"0\" sm=\"103\"/>"), "gpu: b200"));
  CHECK(has(of_gpu("link_speed=\"32.0 GT/s PCIe\"", ""), "gpu: h100"));
  CHECK(has(of_gpu("link_speed=\"16 GT/s\"", ""), "gpu: a100-80"));
}

TEST_CASE("NVLinks from a GPU to itself join nothing") {
  const std::string pci =
      "<pci busid=\"000{0}:00:00.0\" class=\"0x030200\" device=\"0x20b5\"><gpu dev=\"{0}\" "
      "sm=\"80\"><nvlink target=\"000{0}:00:00.0\" count=\"12\" tclass=\"0x030200\"/></gpu></pci>";
  const std::string text = cluster_text(
      read_nccl_topology("<system><cpu numaid=\"0\">" + fmt::format(fmt::runtime(pci), 0) +
                             fmt::format(fmt::runtime(pci), 1) + "</cpu></system>",
                         "topo.xml"),
      "");
  CHECK(has(text, "gpu: a100-80  # device 0x20b5"));
  CHECK_FALSE(has(text, "NVLinks a GPU"));
}
