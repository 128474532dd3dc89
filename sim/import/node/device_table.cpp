// Groups of near devices, level by level, become the vertices of a tree.
#include "sim/import/node/device_table.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace stepsim {
namespace {

bool is_known(const std::string& numa) { return !numa.empty() && numa != "N/A"; }

/// A port by the name that its driver gives it: "mlx5_" and 3 of "mlx5_3". The number is -1 where
/// there is none, and of bonds, which have both ports of a card.
struct PortName {
  std::string_view driver;
  int number = -1;
};
PortName port_of(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  PortName port{name.substr(0, digits), -1};
  if (name.find("bond") == std::string_view::npos)
    std::from_chars(name.data() + digits, name.data() + name.size(), port.number);
  return port;
}

/// Devices that are as near as a level or nearer are one.
class Groups {
 public:
  explicit Groups(std::size_t count) : of_(count) {
    for (std::size_t i = 0; i < count; ++i) of_[i] = i;
  }
  void join(std::size_t a, std::size_t b) {
    const std::size_t from = of_[a], to = of_[b];
    std::replace(of_.begin(), of_.end(), std::max(from, to), std::min(from, to));
  }
  std::size_t of(std::size_t device) const { return of_[device]; }

 private:
  std::vector<std::size_t> of_;
};

}  // namespace

int DeviceTable::gpus() const {
  return static_cast<int>(std::count_if(devices_.begin(), devices_.end(),
                                        [](const Device& device) { return device.is_gpu; }));
}

void DeviceTable::add(const Device& device) {
  Device added = device;
  const bool is_somewhere = is_known(added.numa) || devices_.empty();
  if (!is_somewhere) added.numa = devices_.front().numa;
  const std::size_t count = devices_.size();
  std::vector<int> distances;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_near = is_known(added.numa) ? added.numa == devices_[i].numa : i == 0;
    distances.push_back(is_near ? kNumaNode : kSystem);
    distances_[i].push_back(distances.back());
    nvlinks_[i].push_back(0);
  }
  distances.push_back(kSystem);
  devices_.push_back(added);
  distances_.push_back(distances);
  nvlinks_.emplace_back(count + 1, 0);
}

void DeviceTable::remove(std::size_t device) {
  const auto at = static_cast<std::ptrdiff_t>(device);
  const auto drop = [&](std::vector<std::vector<int>>& table) {
    table.erase(table.begin() + at);
    for (std::vector<int>& row : table) row.erase(row.begin() + at);
  };
  devices_.erase(devices_.begin() + at);
  drop(distances_);
  drop(nvlinks_);
}

std::vector<DeviceTable::Neighbours> DeviceTable::neighbours() const {
  const auto share = [&](std::size_t a, std::size_t b) {
    return a != b && distances_[a][b] == kSameSwitch && distances_[b][a] == kSameSwitch;
  };
  std::vector<Neighbours> found;
  for (std::size_t nic = 0; nic < devices_.size(); ++nic) {
    const PortName port = port_of(devices_[nic].name);
    if (!is_nic(nic) || port.number < 0) continue;
    std::vector<std::size_t> nics;
    bool is_gpu_near = false;
    for (std::size_t other = 0; other < devices_.size(); ++other) {
      if (!share(nic, other)) continue;
      is_nic(other) ? nics.push_back(other) : void(is_gpu_near = true);
    }
    if (nics.size() != 1 || nics.front() < nic) continue;
    const PortName next = port_of(devices_[nics.front()].name);
    if (next.driver != port.driver || next.number != port.number + 1) continue;
    const auto alone = std::count_if(devices_.begin(), devices_.end(), [&](const Device& device) {
      const auto other = static_cast<std::size_t>(&device - devices_.data());
      return !device.is_gpu && share(nics.front(), other);
    });
    if (alone == 1) found.push_back({nic, nics.front(), next.number, !is_gpu_near});
  }
  return found;
}

ObservedNode DeviceTable::node(const std::string& source) const {
  ObservedNode node{
      .source = source, .are_nvlinks_untold = is_pcie_alone_, .is_beside_cpu = is_beside_cpu_};
  std::vector<std::size_t> gpus, nics;
  for (std::size_t i = 0; i < devices_.size(); ++i) (devices_[i].is_gpu ? gpus : nics).push_back(i);
  node.gpus = static_cast<int>(gpus.size());
  for (const std::size_t nic : nics) node.nics.push_back(devices_[nic].name);
  for (const std::size_t gpu : gpus) {
    auto& links = node.nvlinks.emplace_back();
    for (const std::size_t other : gpus) links.push_back(nvlinks_[gpu][other]);
    auto& apart = node.apart.emplace_back();
    for (const std::size_t nic : nics) apart.push_back(distances_[gpu][nic]);
  }
  add_tree(node);
  return node;
}

std::string DeviceTable::end_of(std::size_t device) const {
  const auto alike = [&](const Device& other) { return other.is_gpu == devices_[device].is_gpu; };
  const auto end = devices_.begin() + static_cast<std::ptrdiff_t>(device);
  return fmt::format("{} {}", devices_[device].is_gpu ? "gpu" : "nic",
                     std::count_if(devices_.begin(), end, alike));
}

bool DeviceTable::are_within(std::size_t a, std::size_t b, int level) const {
  if (distances_[a][b] <= level && nvlinks_[a][b] == 0) return true;
  // Between GPUs with NVLinks the table does not say; their NUMA nodes do.
  return level >= kNumaNode && is_known(devices_[a].numa) && devices_[a].numa == devices_[b].numa;
}

void DeviceTable::add_tree(ObservedNode& node) const {
  std::vector<std::string> tops;
  for (std::size_t i = 0; i < devices_.size(); ++i) tops.push_back(end_of(i));
  Groups groups(devices_.size());
  constexpr std::string_view kTitles[] = {"switch", "bridge", "root", "cpu"};
  for (int level = kSameSwitch; level <= kNumaNode; ++level) {
    for (std::size_t a = 0; a < devices_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (are_within(a, b, level)) groups.join(a, b);
      }
    }
    int count = 0;
    for (std::size_t first = 0; first < devices_.size(); ++first) {
      if (groups.of(first) != first) continue;
      std::vector<std::string> below;
      for (std::size_t i = first; i < devices_.size(); ++i) {
        const bool is_new = std::find(below.begin(), below.end(), tops[i]) == below.end();
        if (groups.of(i) == first && is_new) below.push_back(tops[i]);
      }
      if (below.size() < 2 && level < kNumaNode) continue;
      const std::string top = fmt::format("{} {}", kTitles[level - 1], count++);
      node.switches.push_back(top);
      for (const std::string& end : below) node.pcie.push_back({end, top, {}, {}});
      for (std::size_t i = first; i < devices_.size(); ++i) {
        if (groups.of(i) == first) tops[i] = top;
      }
    }
    if (level == kNumaNode && count > 1) {
      const std::string all = fmt::format("cpu 0..{}", count - 1);
      node.pcie.push_back({all, all, 22_GBps, {}});
      node.pcie_notes.push_back(
          "not seen: 22 GB/s between CPUs (SPR_QPI_BW in NVIDIA/nccl v2.30.7 src/graph/topo.h)");
    }
  }
}

}  // namespace stepsim
