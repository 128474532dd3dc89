// stepsim calibrate probe on made-up machines, whose files are written here.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/calibrate/profile/nearest_gpu.hpp"
#include "sim/cluster/network.hpp"
#include "sim/command/calibrate.hpp"
#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/core/system/files_read.hpp"
#include "sim/import/import_options.hpp"
#include "sim/plan/load.hpp"
#include "sim/scenario/load.hpp"
#include "sim/text/file.hpp"
#include "sim/text/seal.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/unit/import/written_cluster.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

/// A folder with the files of a machine, which goes with it.
class Machine {
 public:
  Machine() {
    put("proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Example CPU\nphysical id\t: 0\ncore id\t: 0\n");
    put("proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 5 kB\n");
  }

  void put(const std::string& name, const std::string& text) const { folder_.file(name, text); }
  void gpu(const std::string& bus, int numa, const std::string& speed) const {
    const std::string device = fmt::format("sys/bus/pci/devices/{}/", bus);
    put(device + "vendor", "0x10de\n");
    put(device + "class", "0x030200\n");
    put(device + "numa_node", fmt::format("{}\n", numa));
    put(device + "max_link_speed", speed + "\n");
    put(device + "current_link_width", "16\n");
  }
  void infiniband(const std::string& name, const std::string& bus, int numa,
                  const std::string& rate) const {
    const std::string device = fmt::format("sys/class/infiniband/{}/", name);
    put(device + "ports/1/rate", rate + "\n");
    put(device + "ports/1/state", "4: ACTIVE\n");
    put(device + "ports/1/link_layer", "InfiniBand\n");
    put(device + "device/numa_node", fmt::format("{}\n", numa));
    put(device + "device/uevent", "DRIVER=mlx5_core\nPCI_SLOT_NAME=" + bus + "\n");
  }
  void ethernet(const std::string& name, const std::string& bus, int megabits) const {
    put("sys/class/net/" + name + "/speed", fmt::format("{}\n", megabits));
    put("sys/class/net/" + name + "/device/uevent", "PCI_SLOT_NAME=" + bus + "\n");
  }
  std::string path(const std::string& name) const { return folder_.file(name); }

 private:
  TemporaryFolder folder_;
};

struct Answer {
  std::string cluster, notes;
};

Answer probe(const Machine& machine, const std::string& gpu = "") {
  std::ostringstream out, notes;
  CHECK(calibrate_probe({.root = machine.path(""), .gpu = gpu}, out, notes) == ExitCode::ok);
  return {out.str(), notes.str()};
}

std::string refusal(const Machine& machine) {
  std::ostringstream out, notes;
  try {
    calibrate_probe({.root = machine.path("")}, out, notes);
  } catch (const UserError& error) {
    CHECK(out.str().empty());
    return error.what();
  }
  return "none";
}

/// Two sockets, eight H100 on NVSwitch, eight NDR ports and one NIC for people.
void make_dgx_h100(const Machine& machine, bool with_matrix) {
  std::string query, header, rows;
  for (int i = 0; i < 8; ++i) {
    const std::string bus = fmt::format("0000:{:x}b:00.0", i + 1);
    query += fmt::format("NVIDIA H100 80GB HBM3, 00000000:{:X}B:00.0, 81559 MiB\n", i + 1);
    machine.gpu(bus, i / 4, "32.0 GT/s PCIe");
    machine.infiniband(fmt::format("mlx5_{}", i + 3), fmt::format("0000:{:x}c:00.0", i + 1), i / 4,
                       "400 Gb/sec (4X NDR)");
  }
  machine.put("nvidia-smi-query.txt", query);
  machine.ethernet("eno3", "0000:0d:00.0", 100000);
  for (const int node : {0, 1})
    machine.put(fmt::format("sys/devices/system/node/node{}/cpulist", node), "0\n");
  std::string matrix, legend = "NIC Legend:\n";
  for (int row = -1; row < 16; ++row) {
    const auto name = [](int i) {
      return i < 8 ? fmt::format("GPU{}", i) : fmt::format("NIC{}", i - 8);
    };
    if (row >= 0) matrix += name(row);
    for (int column = 0; column < 16; ++column) {
      const bool is_slot = row % 8 == column % 8, is_socket = row % 8 / 4 == column % 8 / 4;
      matrix += "\t" + (row < 0                 ? name(column)
                        : row == column         ? "X"
                        : row < 8 && column < 8 ? "NV18"
                        : is_slot               ? "PXB"
                        : is_socket             ? "NODE"
                                                : "SYS");
    }
    matrix += row < 0 ? "\tCPU Affinity\tNUMA Affinity\n" : fmt::format("\t0-9\t{}\n", row % 8 / 4);
    if (row >= 8) legend += fmt::format("  NIC{}: mlx5_{}\n", row - 8, row - 8 + 3);
  }
  if (with_matrix) machine.put("nvidia-smi-topo.txt", matrix + "\n" + legend);
}

}  // namespace

TEST_CASE("a DGX H100 is recognised, with an InfiniBand port for each GPU") {
  const Machine machine;
  make_dgx_h100(machine, true);
  const auto [the_text, notes] = probe(machine);
  const auto& text = the_text;
  CAPTURE(text);
  const Cluster cluster = cluster_of(text, 2);
  CHECK(cluster.gpu.name == "h100");
  CHECK(cluster.gpus_per_node == 8);
  CHECK(cluster.intra_node.name == "nvlink4");
  CHECK(cluster.node_topology.kind == "nvswitch");
  CHECK(cluster.inter_node->nics_per_node == 8);
  CHECK(cluster.inter_node->bandwidth == 50_GBps);
  CHECK(cluster.inter_node->efficiency == doctest::Approx(0.97));
  CHECK(text.find("intra_node: nvlink4  # 18 NVLinks a GPU: NV# of") != std::string::npos);
  CHECK(
      text.find("# mlx5_3, mlx5_4, mlx5_5, mlx5_6, mlx5_7, mlx5_8, mlx5_9, mlx5_10; the others") !=
      std::string::npos);
  CHECK(text.find("# /sys/class/infiniband/mlx5_3/ports/1/rate\n") != std::string::npos);
  CHECK(text.find("topology: rail  # not seen: the fabric\n") != std::string::npos);
  CHECK(notes.find("CPU: 1 x Example CPU, 1 core, 1 thread, 2 NUMA nodes, 1.00 GiB\n") == 0);
  CHECK(notes.find("NIC: 1 x Ethernet 100 Gbit/s: eno3\n") != std::string::npos);
}

TEST_CASE("every line with a number says where it is from") {
  const Machine machine;
  make_dgx_h100(machine, true);
  std::istringstream lines(probe(machine).cluster);
  bool is_below_comment = false;
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    const std::size_t first = line.find_first_not_of(' ');
    const bool is_comment = first != std::string::npos && line[first] == '#';
    if (line.find_first_of("0123456789") != std::string::npos)
      CHECK((is_below_comment || line.find('#') != std::string::npos));
    is_below_comment = is_comment;
  }
}

TEST_CASE("a NIC whose NUMA node nobody knows is put beside the first GPU, which is said") {
  const Machine machine;
  machine.gpu("0000:41:00.0", 0, "16.0 GT/s PCIe");
  machine.gpu("0000:c1:00.0", 1, "16.0 GT/s PCIe");
  machine.infiniband("mlx5_0", "0000:42:00.0", -1, "200 Gb/sec (4X HDR)");
  CHECK(probe(machine).cluster.find("# not seen: where mlx5_0 is; as if beside 0000:41:00.0.\n") !=
        std::string::npos);
}

TEST_CASE(
    "without nvidia-smi topo the modules of a DGX are taken to be on NVSwitch, which is said") {
  const Machine machine;
  make_dgx_h100(machine, false);
  const auto [text, notes] = probe(machine);
  CHECK(cluster_of(text).node_topology.kind == "nvswitch");
  CHECK(text.find("# 18 NVLinks a GPU: not seen: `nvidia-smi topo -m`;") != std::string::npos);
  CHECK(notes.find("not seen: how GPUs are joined: no nvidia-smi-topo.txt\n") != std::string::npos);
}

TEST_CASE("a GPU that no profile is of has to be named") {
  const Machine machine;
  machine.gpu("0000:41:00.0", 0, "16.0 GT/s PCIe");
  machine.put("nvidia-smi-query.txt", "NVIDIA RTX 4090, 00000000:41:00.0, 24564 MiB\n");
  std::ostringstream out, notes;
  CHECK_THROWS_WITH_AS(calibrate_probe({.root = machine.path("")}, out, notes),
                       doctest::Contains("no profile is of a GPU like 'NVIDIA RTX 4090': name one "
                                         "with --gpu (v100, "),
                       UserError);
  CHECK(out.str().empty());
  calibrate_probe({.root = machine.path(""), .gpu = "l40s"}, out, notes);
  CHECK(out.str().find("gpu: l40s") != std::string::npos);
}

TEST_CASE("without nvidia-smi GPUs are those of the PCI bus, and their kind is not seen") {
  const Machine machine;
  machine.gpu("0000:41:00.0", 0, "16.0 GT/s PCIe");
  machine.gpu("0000:c1:00.0", 1, "16.0 GT/s PCIe");
  machine.infiniband("mlx5_0", "0000:42:00.0", 0, "200 Gb/sec (4X HDR)");
  const auto [the_text, notes] = probe(machine);
  const auto& text = the_text;
  CAPTURE(text);
  CHECK(notes.find("GPU: 2 x an NVIDIA GPU of unknown kind: 0000:41:00.0, 0000:c1:00.0\n") !=
        std::string::npos);
  CHECK(text.find("# not seen: which GPU (/sys/bus/pci/devices: an NVIDIA GPU of unknown kind); "
                  "--gpu says another\n"
                  "gpu: a100-80\n") != std::string::npos);
  const Cluster cluster = cluster_of(text, 2);
  const Network network(cluster);
  CHECK(network.inside(0, 1).size() == 3);  // over both CPUs
  CHECK(network.links()[network.inside(0, 1)[0]].bandwidth == 24_GBps);
  CHECK(cluster.inter_node->nics_per_node == 1);
  CHECK(cluster.inter_node->bandwidth == 25_GBps);
  CHECK(cluster_of(probe(machine, "l40s").cluster).gpu.name == "l40s");
}

TEST_CASE("the example of a workstation is two cards, and the faster NIC that is up") {
  std::ostringstream out, notes;
  CHECK(calibrate_probe({.root = std::string(source_folder()) + "/calib/examples/workstation"}, out,
                        notes) == ExitCode::ok);
  const Cluster cluster = cluster_of(out.str(), 2);
  const Network network(cluster);
  CHECK(cluster.gpu.name == "l40s");
  CHECK(cluster.node_topology.kind == "custom");
  CHECK(network.links()[network.inside(0, 1)[0]].bandwidth == 24_GBps);
  CHECK(cluster.inter_node->nics_per_node == 1);
  CHECK(cluster.inter_node->bandwidth == 12.5_GBps);
  CHECK(notes.str().find("RoCE 100 Gbit/s, down: mlx5_1\n") != std::string::npos);
}

TEST_CASE("a machine without a GPU has no cluster") {
  const Machine machine;
  std::ostringstream out, notes;
  CHECK_THROWS_WITH_AS(calibrate_probe({.root = machine.path("")}, out, notes),
                       doctest::Contains("`stepsim calibrate cpu` describes a CPU"),
                       SimulationError);
  CHECK(out.str().empty());
  CHECK(notes.str().find("CPU: 1 x Example CPU") == 0);
  machine.put("nvidia-smi-query.txt", "No devices were found\n");
  CHECK_THROWS_AS(calibrate_probe({.root = machine.path("")}, out, notes), SimulationError);
}

TEST_CASE("files that cannot be understood are errors with their place, all in one go") {
  const Machine machine;
  make_dgx_h100(machine, true);
  machine.put("proc/meminfo", "Mem");
  machine.put("sys/class/infiniband/mlx5_3/ports/1/rate", "fast\n");
  machine.put("sys/class/net/eno3/speed", "ten\n");
  machine.put("nvidia-smi-query.txt",
              "NVIDIA H100 80GB HBM3, 00000000:1B:00.0, 81559 MiB\nNVIDIA H1");
  const std::string text = refusal(machine);
  CAPTURE(text);
  CHECK(text.find("proc/meminfo:1:1: the first line is not like 'MemTotal: 1024 kB'") !=
        std::string::npos);
  CHECK(text.find("rate:1:1: 'fast' is not like '400 Gb/sec (4X NDR)'") != std::string::npos);
  CHECK(text.find("speed:1:1: 'ten' is not a number of Mbit/s") != std::string::npos);
  CHECK(text.find("nvidia-smi-query.txt:2:1: not like 'NVIDIA H100") != std::string::npos);
}

TEST_CASE("a table that is cut off, or of another machine, is refused") {
  const Machine machine;
  make_dgx_h100(machine, true);
  machine.put("nvidia-smi-topo.txt", "\tGPU0\tGPU1\nGPU0\tX\tSYS\n");
  CHECK(refusal(machine).find("nvidia-smi-topo.txt:1:1: 2 devices, but 1 rows") !=
        std::string::npos);
  machine.put("nvidia-smi-topo.txt", "\tGPU0\tGPU1\nGPU0\tX\tSYS\nGPU1\tSYS\tX\n");
  CHECK(refusal(machine).find("has 2 GPUs, but nvidia-smi has 8") != std::string::npos);
}

TEST_CASE("a folder that is no machine is refused") {
  std::ostringstream out, notes;
  CHECK_THROWS_WITH_AS(calibrate_probe({.root = "/no/such/folder"}, out, notes),
                       "--root /no/such/folder: there is no such folder", UserError);
  const Machine machine;
  fs::create_directory(machine.path("empty"));
  CHECK_THROWS_WITH_AS(calibrate_probe({.root = machine.path("empty")}, out, notes),
                       doctest::Contains("neither sys nor proc is in it"), UserError);
}

TEST_CASE("a cluster file is replaced as long as nobody changed it") {
  const Machine machine;
  make_dgx_h100(machine, true);
  const std::string file = machine.path("mine.yaml");
  std::ostringstream out, notes;
  CalibrateProbeOptions options{.output = file, .root = machine.path("")};
  const auto probe = [&] {
    forget_reads();  // a new file may have the place of one that was read, and removed
    return calibrate_probe(options, out, notes);
  };
  CHECK(probe() == ExitCode::ok);
  CHECK(out.str().find(file + ": written, 3 lines say `not seen`: check them;") !=
        std::string::npos);
  CHECK(is_sealed(beginning_of(file, 1 << 20), "stepsim calibrate probe"));
  CHECK(probe() == ExitCode::ok);
  std::ofstream(file, std::ios::app) << "name: mine\n";
  CHECK_THROWS_WITH_AS(probe(), doctest::Contains("mine.yaml is there already, and not as"),
                       UserError);
  options.force = true;
  CHECK(probe() == ExitCode::ok);
}

TEST_CASE("a driver's name leads to a profile") {
  const Library library{{source_folder()}};
  const auto profile = [&](const std::string& name, double gib) {
    DeviceFacts device{.name = name};
    device.memory_bytes = static_cast<std::int64_t>(gib * 0x1p30);
    return nearest_profile(device, library);
  };
  CHECK(profile("NVIDIA H100 80GB HBM3", 79.6) == "h100");
  CHECK(profile("NVIDIA A100-PCIE-40GB", 0) == "a100-40");
  CHECK(profile("NVIDIA GB200", 185) == "gb200");
  CHECK(profile("NVIDIA B200", 179) == "b200");
  CHECK(profile("NVIDIA L40S", 45) == "l40s");
  CHECK(profile("NVIDIA RTX A1000", 8) == "");
  CHECK(profile("Tesla V100S-PCIE-32GB", 32) == "v100");
  CHECK(profile("NVIDIA GH200 480GB", 0) == "");  // nothing of its own: not a word of 480 GB of HBM
}
