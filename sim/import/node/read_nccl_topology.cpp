// Reading NCCL's topology files: XML with the PCIe tree below each CPU.
//
// system > cpu > pci > ... > gpu > nvlink, and nic > net (NVIDIA/nccl v2.30.7 src/graph/xml.cc).
// A pci element with others below it is a switch. An nvlink's target is another GPU, or an NVSwitch
// (class 0x068000). A file that NCCL wrote (NCCL_TOPO_DUMP_FILE) has all of it; one that it reads
// (NCCL_TOPO_FILE) may have the tree alone, with GPUs and NICs by the class of their device.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "sim/core/error.hpp"
#include "sim/core/problems.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/node/known_gpu.hpp"
#include "sim/import/node/observed_node.hpp"

namespace stepsim {
namespace {

/// Classes of devices (PCI Code and ID Assignment Specification): a bridge, a 3D controller, network
/// controllers.
constexpr std::string_view kNvswitchClass = "0x068000", kGpuClass = "0x0302",
                           kEthernetClass = "0x0200", kInfinibandClass = "0x0207";

/// Switches above a device; real systems have three.
constexpr std::size_t kDeepestSwitch = 64;
/// GPUs of a node, as many as a scenario's node may have; NICs; switches with CPUs.
constexpr std::size_t kMostOfAKind = 1024;
/// NVLinks from a GPU to one other device; real GPUs have 18 in all.
constexpr int kMostNvlinks = 1024;

/// Between two CPUs of that model, as NCCL expects it: ..._QPI_BW and AMD_BW in NVIDIA/nccl v2.30.7
/// src/graph/topo.h, models in src/graph/topo.cc.
BytesPerSecond between_sockets(const pugi::xml_node& cpu) {
  const std::string_view vendor = cpu.attribute("vendor").value();
  if (vendor == "AuthenticAMD") return 16_GBps;
  if (vendor != "GenuineIntel") return 6_GBps;  // ARM, POWER and others
  const int model = cpu.attribute("modelid").as_int();
  constexpr int kEmeraldRapids = 0xcf, kSapphireRapids = 0x8f, kSkylake = 0x55;
  if (model >= kEmeraldRapids) return 40_GBps;
  if (model >= kSapphireRapids) return 22_GBps;
  return model >= kSkylake ? 10_GBps : 6_GBps;
}

/// link_speed="16.0 GT/s PCIe"; 0: not said
double speed_of(const pugi::xml_node& pci) {
  return std::strtod(pci.attribute("link_speed").value(), nullptr);
}

/// link_width="16"
BytesPerSecond payload_of(const pugi::xml_node& pci) {
  const double speed = speed_of(pci);
  return speed > 0 ? pcie_payload(speed, pci.attribute("link_width").as_int(16)) : BytesPerSecond{};
}

/// A device and the vertices above it, from the nearest.
struct Device {
  std::string end;
  std::vector<std::string> above;
};

class NcclTopology {
 public:
  /// REQUIRES: the text outlives it.
  NcclTopology(const std::string& text, std::string file) : text_(text), file_(std::move(file)) {
    const pugi::xml_parse_result result = document_.load_string(text.c_str());
    if (result) return;
    const auto at = static_cast<std::size_t>(result.offset);
    const auto begin = text.begin(),
               end = begin + static_cast<std::ptrdiff_t>(std::min(at, text.size()));
    const std::size_t start = text.rfind('\n', at == 0 ? 0 : at - 1);
    const std::size_t line = start == std::string::npos || start >= at ? 0 : start + 1;
    throw UserError({{.file = file_,
                      .line = static_cast<int>(std::count(begin, end, '\n')) + 1,
                      .column = static_cast<int>(at - line) + 1,
                      .message = fmt::format("not XML: {}", result.description()),
                      .source_line = text.substr(line, text.find('\n', line) - line)}});
  }

  ObservedNode read() {
    const pugi::xml_node system = document_.child("system");
    int cpus = 0;
    BytesPerSecond sockets;
    for (const pugi::xml_node& cpu : system.children("cpu")) {
      refuse_if(node_.switches.size() == kMostOfAKind, cpu,
                fmt::format("more than {} switches and CPUs", kMostOfAKind));
      const std::string name = fmt::format("cpu {}", cpus++);
      node_.switches.push_back(name);
      sockets = between_sockets(cpu);
      below(cpu, {name});
    }
    if (gpus_.empty())
      throw UserError(
          file_ +
          ": no GPU in it, neither a gpu element nor a device of class 0x0302, so NCCL asks the "
          "driver: run any program of NCCL there with NCCL_TOPO_DUMP_FILE=topo.xml and import that "
          "file, or what `nvidia-smi topo -m` prints");
    if (std::ranges::none_of(nvlinks_,
                             [](const pugi::xml_node& gpu) { return static_cast<bool>(gpu); }))
      node_.are_nvlinks_untold = true;
    if (cpus > 1) {
      const std::string all = fmt::format("cpu 0..{}", cpus - 1);
      node_.pcie.push_back({all, all, sockets, {}});
    }
    node_.source = "NCCL's topology file";
    node_.rates_from = "speed of net";
    node_.pcie_notes.push_back(
        "PCIe by link_speed and link_width, as NCCL counts them; between CPUs by their model");
    node_.gpus = static_cast<int>(gpus_.size());
    join_gpus();
    measure_distances();
    return std::move(node_);
  }

 private:
  void refuse_if(bool is_wrong, const pugi::xml_node& at, const std::string& message) const {
    if (!is_wrong) return;
    const auto source = std::make_shared<Source>(Source{file_, "", text_});
    Problems problems;
    problems.add(place_at(source, static_cast<std::size_t>(at.offset_debug())), "", message);
    problems.throw_if_any();
  }

  void join(const std::string& end, const std::vector<std::string>& above, BytesPerSecond rate) {
    node_.pcie.push_back({end, above.front(), rate, {}});
  }

  /// The devices and switches below an element that is called above.front().
  void below(const pugi::xml_node& element, const std::vector<std::string>& above) {
    for (const pugi::xml_node& pci : element.children("pci")) {
      const std::string_view kind = pci.attribute("class").value();
      if (pci.child("gpu") || kind.starts_with(kGpuClass)) {
        add_gpu(pci, above);
      } else if (pci.child("nic")) {
        add_nics(pci, above, payload_of(pci));
      } else if (pci.child("pci")) {
        add_switch(pci, above);
      } else if (kind.starts_with(kEthernetClass) || kind.starts_with(kInfinibandClass)) {
        add_nic(pci, pci.attribute("busid").value(), {}, above, payload_of(pci));
      }
    }
    add_nics(element, above, {});  // the NICs of the CPU itself
  }

  void add_switch(const pugi::xml_node& pci, const std::vector<std::string>& above) {
    refuse_if(above.size() > kDeepestSwitch, pci,
              fmt::format("switches inside each other more than {} deep", kDeepestSwitch));
    refuse_if(node_.switches.size() == kMostOfAKind, pci,
              fmt::format("more than {} switches and CPUs", kMostOfAKind));
    const std::string name = fmt::format("switch {}", switches_++);
    node_.switches.push_back(name);
    join(name, above, payload_of(pci));
    std::vector<std::string> path = above;
    path.insert(path.begin(), name);
    below(pci, path);
  }

  void add_gpu(const pugi::xml_node& pci, const std::vector<std::string>& above) {
    refuse_if(gpus_.size() == kMostOfAKind, pci, fmt::format("more than {} GPUs", kMostOfAKind));
    const std::string end = fmt::format("gpu {}", gpus_.size());
    join(end, above, payload_of(pci));
    number_[pci.attribute("busid").value()] = static_cast<int>(gpus_.size());
    gpus_.push_back({end, above});
    nvlinks_.push_back(pci.child("gpu"));
    node_.slot_speed = std::max(node_.slot_speed, speed_of(pci));
    name_gpu(pci);
  }

  void name_gpu(const pugi::xml_node& pci) {
    const std::string device = pci.attribute("device").value();
    const int sm = pci.child("gpu").attribute("sm").as_int();
    constexpr int kBlackwell = 100;
    const KnownGpu* known =
        known_gpu_of_device(static_cast<int>(std::strtol(device.c_str(), nullptr, 16)));
    if (known != nullptr) {
      node_.gpu_from = fmt::format("device {}", device);
    } else if (sm > 0) {
      known = known_gpu_of_sm(sm);
      node_.gpu_from = fmt::format("sm {}", sm);
      if (known == nullptr && sm > kBlackwell) known = known_gpu_of_sm(kBlackwell);
    }
    if (known != nullptr) node_.gpu = known->profile;
  }

  void add_nics(const pugi::xml_node& element, const std::vector<std::string>& above,
                BytesPerSecond rate) {
    for (const pugi::xml_node& nic : element.children("nic")) {
      for (const pugi::xml_node& net : nic.children("net")) {
        constexpr double kMegabit = 1e6 / 8;
        add_nic(net, net.attribute("name").value(),
                BytesPerSecond{std::max(0.0, net.attribute("speed").as_double() * kMegabit)}, above,
                rate);
      }
    }
  }

  /// `rate` is that of its port, 0 where it is not said; `slot` that of its link.
  void add_nic(const pugi::xml_node& at, const std::string& name, BytesPerSecond rate,
               const std::vector<std::string>& above, BytesPerSecond slot) {
    refuse_if(nics_.size() == kMostOfAKind, at, fmt::format("more than {} NICs", kMostOfAKind));
    const std::string end = fmt::format("nic {}", nics_.size());
    join(end, above, slot);
    nics_.push_back({end, above});
    node_.nics.push_back(name);
    node_.nic_rates.push_back(rate);
  }

  void join_gpus() {
    node_.nvlinks.assign(gpus_.size(), std::vector<int>(gpus_.size(), 0));
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      int switched = 0;
      for (const pugi::xml_node& link : nvlinks_[gpu].children("nvlink")) {
        const int count = link.attribute("count").as_int();
        refuse_if(count < 0 || count > kMostNvlinks, link,
                  fmt::format("count {} is not between 0 and {}",
                              quoted(link.attribute("count").value()), kMostNvlinks));
        const auto other = number_.find(link.attribute("target").value());
        if (link.attribute("tclass").value() == kNvswitchClass) switched += count;
        // Files of virtual machines have links from a GPU to itself, which join nothing.
        if (other != number_.end() && other->second != static_cast<int>(gpu))
          node_.nvlinks[gpu][static_cast<std::size_t>(other->second)] += count;
      }
      node_.switched = gpu == 0 ? switched : std::min(node_.switched, switched);
    }
  }

  /// How many switches and CPUs lie between.
  void measure_distances() {
    for (const Device& gpu : gpus_) {
      auto& apart = node_.apart.emplace_back();
      for (const Device& nic : nics_) {
        int steps = static_cast<int>(gpu.above.size() + nic.above.size());
        for (std::size_t i = 0; i < gpu.above.size(); ++i) {
          const auto meet = std::ranges::find(nic.above, gpu.above[i]);
          if (meet == nic.above.end()) continue;
          steps = static_cast<int>(i) + static_cast<int>(meet - nic.above.begin());
          break;
        }
        apart.push_back(steps);
      }
    }
  }

  const std::string& text_;
  std::string file_;
  pugi::xml_document document_;
  ObservedNode node_;
  std::vector<Device> gpus_, nics_;
  std::vector<pugi::xml_node> nvlinks_;  ///< the gpu elements, which hold them
  std::map<std::string, int> number_;    ///< the number of a GPU by its bus id
  int switches_ = 0;
};

}  // namespace

ObservedNode read_nccl_topology(const std::string& text, const std::string& file) {
  refuse_large_import(file, text);
  return NcclTopology(text, file).read();
}

}  // namespace stepsim
