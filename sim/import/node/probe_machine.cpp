// File by file: CPUs, GPUs, NICs.
//
// Formats: Documentation/ABI in torvalds/linux (sysfs-class-infiniband, sysfs-class-net,
// sysfs-bus-pci, stable/sysfs-devices-node), proc(5), and `nvidia-smi --help-query-gpu`.
#include "sim/import/node/probe_machine.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "sim/core/problems.hpp"
#include "sim/core/system/cpuinfo.hpp"
#include "sim/core/trim.hpp"
#include "sim/core/words.hpp"

namespace stepsim {
namespace {

constexpr const char* kPciDevices = "/sys/bus/pci/devices";
constexpr const char* kInfiniband = "/sys/class/infiniband";
constexpr const char* kNetworks = "/sys/class/net";

/// The number at the beginning, which is not negative; nothing where there is none.
std::optional<double> leading_number(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !(number >= 0) || number > 1e15) return {};
  return number;
}

bool is_node(const std::string& name) {
  return name.size() > 4 && name.starts_with("node") &&
         name.find_first_not_of("0123456789", 4) == std::string::npos;
}

class Probe {
 public:
  explicit Probe(const MachineFiles& files) : files_(files) {}

  ProbedMachine run() {
    read_cpu();
    read_memory();
    read_gpus();
    read_infiniband();
    read_networks();
    std::string why;
    if (machine_.gpus.size() > 1) {
      machine_.matrix = files_.nvidia_smi("topo", {"topo", "-m"}, why);
      if (machine_.matrix == nullptr) machine_.unseen.push_back("how GPUs are joined: " + why);
    }
    problems_.throw_if_any();
    return std::move(machine_);
  }

 private:
  // --- CPU

  void read_cpu() {
    ProbedCpu& cpu = machine_.cpu;
    for (const std::string& name : files_.names("/sys/devices/system/node"))
      cpu.numa_nodes += is_node(name) ? 1 : 0;
    const SourcePtr source = files_.file("/proc/cpuinfo");
    if (source == nullptr)
      return machine_.unseen.push_back("CPU: /proc/cpuinfo is not there or cannot be read");
    std::set<std::string> sockets, cores;
    std::string socket;
    cpu.model = cpu_model(source->text);
    for (const auto& [key, value] : cpuinfo_entries(source->text)) {
      if (key == "processor") ++cpu.threads;
      if (key == "physical id") sockets.insert(socket = value);
      if (key == "core id") cores.insert(fmt::format("{}:{}", socket, value));
    }
    if (cpu.threads == 0) problems_.add({source, 1, 1}, "", "no line begins with 'processor'");
    cpu.sockets = static_cast<int>(sockets.size());
    cpu.cores = static_cast<int>(cores.size());
  }

  void read_memory() {
    const SourcePtr source = files_.file("/proc/meminfo");
    if (source == nullptr)
      return machine_.unseen.push_back("memory: /proc/meminfo is not there or cannot be read");
    const std::string line = source->line(1);
    const auto kib = line.starts_with("MemTotal:") ? leading_number(trimmed(line.substr(9)))
                                                   : std::optional<double>{};
    if (!kib || !line.ends_with("kB"))
      return problems_.add({source, 1, 1}, "", "the first line is not like 'MemTotal: 1024 kB'");
    machine_.cpu.memory = Bytes{*kib * 1024};
  }

  // --- GPUs

  void read_gpus() {
    std::string why;
    const SourcePtr query = files_.nvidia_smi(
        "query", {"--query-gpu=name,pci.bus_id,memory.total", "--format=csv,noheader"}, why);
    if (query == nullptr) {
      machine_.unseen.push_back("which GPUs: " + why);
      machine_.gpus_from = kPciDevices;
      scan_gpus();
    } else {
      machine_.gpus_from = "nvidia-smi";
      int number = 0;
      std::istringstream lines(query->text);
      for (std::string line; std::getline(lines, line);) read_gpu(query, ++number, trimmed(line));
    }
    for (ProbedGpu& gpu : machine_.gpus) place_gpu(gpu);
  }

  /// "NVIDIA H100 80GB HBM3, 00000000:1B:00.0, 81559 MiB"
  void read_gpu(const SourcePtr& source, int number, const std::string& line) {
    if (line.empty() || line == "No devices were found") return;
    static const std::regex kGpu(
        R"(([^,]+), *([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9]), *(\d{1,9} MiB|\[.*\]))");
    std::smatch found;
    if (!std::regex_match(line, found, kGpu))
      return problems_.add({source, number, 1}, "",
                           "not like 'NVIDIA H100 80GB HBM3, 00000000:1B:00.0, 81559 MiB'",
                           "save what `nvidia-smi --query-gpu=name,pci.bus_id,memory.total "
                           "--format=csv,noheader` prints");
    ProbedGpu gpu{.name = found[1]};
    gpu.bus = in_lower_case(found[2]);
    if (gpu.bus.size() > 12) gpu.bus.erase(0, gpu.bus.size() - 12);
    // "[N/A]" where CPU and GPU share a memory.
    gpu.memory = Bytes{leading_number(found[3]).value_or(0) * 0x1p20};
    machine_.gpus.push_back(gpu);
  }

  /// NVIDIA's devices that draw or compute (classes 0300 and 0302 of the PCI Code and ID
  /// Assignment Specification).
  void scan_gpus() {
    for (const std::string& bus : files_.names(kPciDevices)) {
      const std::string folder = fmt::format("{}/{}/", kPciDevices, bus);
      const std::string kind = files_.line(folder + "class").substr(0, 6);
      if (files_.line(folder + "vendor") == "0x10de" && (kind == "0x0302" || kind == "0x0300"))
        machine_.gpus.push_back({.bus = bus});
    }
  }

  std::string numa_of(const std::string& path) const {
    const std::string node = files_.line(path);
    return leading_number(node) ? node : "";  // -1: one node, or the firmware does not tell
  }

  void place_gpu(ProbedGpu& gpu) const {
    const std::string folder = fmt::format("{}/{}/", kPciDevices, gpu.bus);
    gpu.numa = numa_of(folder + "numa_node");
    // An idle GPU's link is slow, but not narrow.
    const auto speed = leading_number(files_.line(folder + "max_link_speed"));
    const auto lanes = leading_number(files_.line(folder + "current_link_width"));
    if (!speed || !lanes || *lanes > 32) return;
    gpu.pcie = *speed;
    gpu.lanes = static_cast<int>(*lanes);
  }

  // --- NICs

  /// "0000:18:00.0" of a line PCI_SLOT_NAME=0000:18:00.0
  std::string bus_of(const std::string& folder) const {
    const SourcePtr source = files_.file(folder + "/uevent");
    std::istringstream lines(source == nullptr ? "" : source->text);
    constexpr std::string_view kKey = "PCI_SLOT_NAME=";
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(kKey)) return trimmed(line.substr(kKey.size()));
    return "";
  }

  void read_infiniband() {
    for (const std::string& name : files_.names(kInfiniband)) {
      const std::string folder = fmt::format("{}/{}", kInfiniband, name);
      ProbedNic nic{.name = name, .kind = "RDMA", .is_up = false};
      nic.bus = bus_of(folder + "/device");
      nic.numa = numa_of(folder + "/device/numa_node");
      for (const std::string& port : files_.names(folder + "/ports"))
        read_port(fmt::format("{}/ports/{}/", folder, port), nic);
      machine_.nics.push_back(nic);
    }
  }

  /// "400 Gb/sec (4X NDR)"
  void read_port(const std::string& port, ProbedNic& nic) {
    const std::string state = files_.line(port + "state");
    const std::string layer = files_.line(port + "link_layer");
    if (layer == "InfiniBand" || layer == "Ethernet")
      nic.kind = layer == "Ethernet" ? "RoCE" : layer;
    nic.is_up = nic.is_up || state.empty() || state.find("ACTIVE") != std::string::npos;
    const SourcePtr source = files_.file(port + "rate");
    if (source == nullptr || source->text.empty()) return;
    const auto gigabits = leading_number(source->line(1));
    if (!gigabits || source->line(1).find(" Gb/sec") == std::string::npos)
      return problems_.add({source, 1, 1}, "",
                           quoted(source->line(1)) + " is not like '400 Gb/sec (4X NDR)'");
    const BytesPerSecond rate{*gigabits * 1e9 / 8};
    if (rate <= nic.rate) return;
    nic.rate = rate;
    nic.from = port + "rate";
  }

  /// Reads the network interfaces of devices (virtual ones have none) that are not among the NICs
  /// yet.
  void read_networks() {
    for (const std::string& name : files_.names(kNetworks)) {
      const std::string folder = fmt::format("{}/{}", kNetworks, name);
      ProbedNic nic{.name = name, .kind = "Ethernet"};
      nic.bus = bus_of(folder + "/device");
      const bool is_known = std::ranges::any_of(
          machine_.nics, [&](const ProbedNic& one) { return one.bus == nic.bus; });
      if (nic.bus.empty() || is_known) continue;
      nic.numa = numa_of(folder + "/device/numa_node");
      const std::string state = files_.line(folder + "/operstate");
      nic.is_up = state.empty() || state == "up" || state == "unknown";
      read_speed(folder + "/speed", nic);
      machine_.nics.push_back(nic);
    }
  }

  /// Mbit/s; -1: unknown.
  void read_speed(const std::string& path, ProbedNic& nic) {
    const SourcePtr source = files_.file(path);
    const std::string told = source == nullptr ? "" : trimmed(source->line(1));
    if (told.empty() || told == "-1") return;
    const auto megabits = leading_number(told);
    if (!megabits)
      return problems_.add({source, 1, 1}, "", quoted(told) + " is not a number of Mbit/s");
    nic.rate = BytesPerSecond{*megabits * 1e6 / 8};
    nic.from = path;
  }

  const MachineFiles& files_;
  ProbedMachine machine_;
  Problems problems_;
};

}  // namespace

ProbedMachine probe_machine(const MachineFiles& files) { return Probe(files).run(); }

}  // namespace stepsim
