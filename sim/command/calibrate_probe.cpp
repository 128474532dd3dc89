// stepsim calibrate probe: this machine as a cluster file to start from.
#include <algorithm>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/calibrate/profile/nearest_gpu.hpp"
#include "sim/command/calibrate.hpp"
#include "sim/core/error.hpp"
#include "sim/core/shell_word.hpp"
#include "sim/import/node/device_table.hpp"
#include "sim/import/node/known_gpu.hpp"
#include "sim/import/node/probe_machine.hpp"
#include "sim/text/file.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/seal.hpp"

namespace stepsim {
namespace {

constexpr const char* kCommand = "stepsim calibrate probe";

/// Free text of a driver or firmware, for one line.
std::string plain(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

std::string counted(int count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

int lines_with(const std::string& text, const std::string& words) {
  int lines = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++lines;
  return lines;
}

std::string cpu_text(const ProbedCpu& cpu) {
  std::vector<std::string> parts;
  const std::string model = cpu.model.empty() ? "of unknown kind" : plain(cpu.model);
  parts.push_back(cpu.sockets > 0 ? fmt::format("{} x {}", cpu.sockets, model) : model);
  if (cpu.cores > 0) parts.push_back(counted(cpu.cores, "core"));
  if (cpu.threads > 0) parts.push_back(counted(cpu.threads, "thread"));
  if (cpu.numa_nodes > 0) parts.push_back(counted(cpu.numa_nodes, "NUMA node"));
  if (cpu.memory > Bytes{}) parts.push_back(humanise(cpu.memory).text());
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string kind_text(const ProbedGpu& gpu) {
  if (gpu.name.empty()) return "an NVIDIA GPU of unknown kind";
  const std::string memory = gpu.memory > Bytes{} ? ", " + humanise(gpu.memory).text() : "";
  return plain(gpu.name) + memory;
}

std::string kind_text(const ProbedNic& nic) {
  const double gigabits = nic.rate.bytes_per_second() * 8 / 1e9;
  const std::string rate = gigabits > 0 ? fmt::format("{:g} Gbit/s", gigabits) : "of unknown speed";
  return fmt::format("{} {}{}", nic.kind, rate, nic.is_up ? "" : ", down");
}

/// "8 x InfiniBand 400 Gbit/s: mlx5_0, mlx5_1", a line for each kind in the order of the first.
template <class Device, class Name>
std::vector<std::string> kinds_text(const std::vector<Device>& devices, Name&& name_of) {
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
  for (const Device& device : devices) {
    const std::string kind = kind_text(device);
    auto found = std::ranges::find_if(kinds, [&](const auto& one) { return one.first == kind; });
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {kind, {}});
    found->second.push_back(name_of(device));
  }
  std::vector<std::string> lines;
  for (const auto& [kind, names] : kinds)
    lines.push_back(fmt::format("{} x {}: {}", names.size(), kind, fmt::join(names, ", ")));
  return lines;
}

/// What was seen, a line each.
std::vector<std::string> seen_text(const ProbedMachine& machine) {
  std::vector<std::string> lines{"CPU: " + cpu_text(machine.cpu)};
  for (const std::string& text :
       kinds_text(machine.gpus, [](const ProbedGpu& gpu) { return gpu.bus; }))
    lines.push_back("GPU: " + text);
  for (const std::string& text :
       kinds_text(machine.nics, [](const ProbedNic& nic) { return plain(nic.name); }))
    lines.push_back("NIC: " + text);
  for (const std::string& what : machine.unseen) lines.push_back("not seen: " + plain(what));
  return lines;
}

/// The GPUs of the table are those of nvidia-smi, in its order.
void place_gpus(const ProbedMachine& machine, DeviceTable& table) {
  if (table.gpus() != static_cast<int>(machine.gpus.size()))
    throw UserError(fmt::format("{} has {} GPUs, but {} has {}", machine.matrix->name, table.gpus(),
                                machine.gpus_from, machine.gpus.size()));
  auto gpu = machine.gpus.begin();
  for (std::size_t i = 0; i < table.devices().size(); ++i) {
    if (!table.devices()[i].is_gpu) continue;
    if (!gpu->numa.empty()) table.set_numa(i, gpu->numa);
    ++gpu;
  }
}

/// NICs as the matrix has them, then those that it leaves out.
DeviceTable table_of(const ProbedMachine& machine) {
  DeviceTable table;
  if (machine.matrix != nullptr) {
    table = read_device_table(machine.matrix->text, machine.matrix->name);
    place_gpus(machine, table);
  } else {
    for (const ProbedGpu& gpu : machine.gpus) table.add({gpu.bus, true, gpu.numa});
  }
  for (const ProbedNic& nic : machine.nics) {
    const auto& devices = table.devices();
    const bool is_there =
        std::ranges::any_of(devices, [&](const auto& one) { return one.name == nic.name; });
    if (!is_there && nic.is_up && nic.rate > BytesPerSecond{})
      table.add({nic.name, false, nic.numa});
  }
  return table;
}

/// NICs that are used, of which neither the matrix nor their NUMA node tells where they are.
std::vector<std::string> unplaced_nics(const ProbedMachine& machine, const ObservedNode& node) {
  std::vector<std::string> names;
  if (machine.matrix != nullptr || machine.cpu.numa_nodes == 1) return names;
  const auto most = std::ranges::max_element(node.nic_rates);
  for (const ProbedNic& nic : machine.nics)
    if (nic.is_up && nic.numa.empty() && most != node.nic_rates.end() && nic.rate == *most)
      names.push_back(nic.name);
  return names;
}

/// Sets the rates of the node's NICs; a NIC that is down counts as one that is not there.
void set_rates(const ProbedMachine& machine, ObservedNode& node) {
  BytesPerSecond most;
  for (const std::string& name : node.nics) {
    const auto found = std::ranges::find(machine.nics, name, &ProbedNic::name);
    const bool is_told = found != machine.nics.end() && found->is_up;
    node.nic_rates.push_back(is_told ? found->rate : BytesPerSecond{});
    if (node.nic_rates.back() <= most) continue;
    most = found->rate;
    node.rates_from = found->from;
  }
}

/// The widest and fastest slot of any GPU; NCCL's figure for it.
void set_slot(const ProbedMachine& machine, ObservedNode& node) {
  const ProbedGpu* best = nullptr;
  const auto payload = [](const ProbedGpu& gpu) { return pcie_payload(gpu.pcie, gpu.lanes); };
  for (const ProbedGpu& gpu : machine.gpus)
    if (gpu.pcie > 0 && (best == nullptr || payload(*best) < payload(gpu))) best = &gpu;
  if (best == nullptr) return;
  node.slot = payload(*best);
  node.slot_from =
      fmt::format("PCIe at {:g} GT/s over {} lanes, of /sys/bus/pci/devices/{}, as NCCL counts it",
                  best->pcie, best->lanes, best->bus);
}

/// A card has no NVSwitch, whatever its chip is used for elsewhere.
bool is_card(const ProbedGpu& gpu) { return gpu.name.find("PCI") != std::string::npos; }

void set_gpu(const ProbedMachine& machine, ObservedNode& node) {
  const ProbedGpu& first = machine.gpus.front();
  const DeviceFacts facts{.name = first.name,
                          .memory_bytes = static_cast<std::int64_t>(first.memory.bytes())};
  node.gpu = first.name.empty() ? "" : nearest_profile(facts, library_for("cluster.yaml"));
  node.gpu_from = fmt::format("{}: {}", machine.gpus_from, kind_text(first));
  if (!node.gpu.empty() && is_card(first))
    node.gpu_from += "; the profile is that of the module, which may draw more power";
  node.gpus_from = machine.gpus_from;
  std::set<std::string> kinds;
  for (const ProbedGpu& gpu : machine.gpus) kinds.insert(kind_text(gpu));
  if (kinds.size() > 1)
    node.notes.push_back("GPUs are of several kinds; in this file all are as the first");
  const KnownGpu* known = known_gpu(node.gpu);
  if (machine.matrix != nullptr || known == nullptr || known->link.empty() || is_card(first) ||
      machine.gpus.size() < 2)
    return;
  node.switched = known->nvlinks;
  node.nvlinks_from = "not seen: `nvidia-smi topo -m`; as NVSwitch joins such modules";
}

/// A GPU with a name that no profile has is another one than those that are known.
void refuse_unknown_gpu(const ProbedMachine& machine, const ObservedNode& node,
                        const std::string& stated) {
  const std::string& name = machine.gpus.front().name;
  if (!stated.empty() || !node.gpu.empty() || name.empty()) return;
  throw UserError(fmt::format(
      "no profile is of a GPU like '{}': name one with --gpu ({}), or make one with `stepsim "
      "calibrate fit`",
      plain(name), fmt::join(known_gpus(), ", ")));
}

ObservedNode node_of(const ProbedMachine& machine, const std::string& where) {
  ObservedNode node = table_of(machine).node(fmt::format("{} by {}", where, kCommand));
  node.notes = seen_text(machine);
  node.nvlinks_from = "NV# of `nvidia-smi topo -m`";
  set_rates(machine, node);
  set_slot(machine, node);
  set_gpu(machine, node);
  if (const auto names = unplaced_nics(machine, node); !names.empty())
    node.pcie_notes.push_back(fmt::format("not seen: where {} {}; as if beside {}",
                                          fmt::join(names, ", "), names.size() == 1 ? "is" : "are",
                                          machine.gpus.front().bus));
  if (machine.matrix == nullptr && machine.gpus.size() > 1)
    node.pcie_notes.push_back("not seen: switches; all devices of a NUMA node are on its CPU");
  return node;
}

}  // namespace

ExitCode calibrate_probe(const CalibrateProbeOptions& options, std::ostream& out,
                         std::ostream& notes) {
  const Output output{"-o", options.output, sealed_by(kCommand), options.force};
  check_outputs({output});
  const MachineFiles files(options.root);
  const ProbedMachine machine = probe_machine(files);
  std::ostream& report = options.output.empty() ? notes : out;
  for (const std::string& line : seen_text(machine)) report << line << '\n';
  if (machine.gpus.empty())
    throw SimulationError(fmt::format(
        "no GPU found in {}: no cluster is written; `stepsim calibrate cpu` describes a CPU",
        files.text()));
  const ObservedNode node = node_of(machine, files.text());
  refuse_unknown_gpu(machine, node, options.gpu);
  const std::string text = sealed(cluster_text(node, options.gpu), kCommand);
  check_cluster(text, static_cast<int>(machine.gpus.size()),
                options.output.empty() ? "cluster.yaml" : options.output);
  if (options.output.empty()) {
    out << text;
  } else {
    save_file(output, text);
    out << fmt::format(
        "{}: written, {} say `not seen`: check them; stepsim run SCENARIO --set cluster={}\n",
        shown_path(options.output), counted(lines_with(text, "# not seen"), "line"),
        shell_word(options.output));
  }
  return ExitCode::ok;
}

}  // namespace stepsim
