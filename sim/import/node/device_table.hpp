// The devices of a node against each other, and the node that follows from them.
#pragma once

#include <string>
#include <vector>

#include "sim/import/node/observed_node.hpp"

namespace stepsim {

/// How far apart two devices are on PCIe, as `nvidia-smi topo -m` has it.
enum Distance { kSameSwitch = 1, kSwitches, kHostBridge, kNumaNode, kSystem };

class DeviceTable {
 public:
  struct Device {
    std::string name;
    bool is_gpu = false;
    std::string numa;  ///< "0"; "" or "N/A": not known
  };

  const std::vector<Device>& devices() const { return devices_; }
  int gpus() const;
  void set_numa(std::size_t device, const std::string& node) { devices_[device].numa = node; }
  /// Memory of GPUs is a NUMA node, as that of modules with a Grace CPU is.
  void set_beside_cpu() { is_beside_cpu_ = true; }
  /// The table has PCIe alone: `nvidia-smi topo -mp`.
  void set_pcie_alone(bool alone) { is_pcie_alone_ = alone; }
  bool is_pcie_alone() const { return is_pcie_alone_; }
  void rename(std::size_t device, const std::string& name) { devices_[device].name = name; }

  /// Behind the others; as far from each as NUMA nodes tell, and beside the first device where it
  /// is not known where it is.
  void add(const Device& device);
  void remove(std::size_t device);

  /// Two NICs of one driver's numbering that share a switch with each other and no third NIC.
  struct Neighbours {
    std::size_t first = 0, second = 0;
    int second_number = 0;
    bool are_nearest = false;  ///< no GPU is as near to them as they are to each other
  };
  std::vector<Neighbours> neighbours() const;

  /// Sets one direction: both have to be set for each pair.
  void set_nvlinks(std::size_t from, std::size_t to, int links) { nvlinks_[from][to] = links; }
  void set_distance(std::size_t from, std::size_t to, int distance) {
    distances_[from][to] = distance;
  }

  /// GPUs and NICs in the order of the table, NVLinks, and a PCIe tree: a vertex for each group of
  /// devices that several meet in, in the end one for each NUMA node.
  ObservedNode node(const std::string& source) const;

 private:
  bool is_nic(std::size_t device) const { return !devices_[device].is_gpu; }
  std::string end_of(std::size_t device) const;
  bool are_within(std::size_t a, std::size_t b, int level) const;
  void add_tree(ObservedNode& node) const;

  std::vector<Device> devices_;
  std::vector<std::vector<int>> nvlinks_, distances_;
  bool is_beside_cpu_ = false, is_pcie_alone_ = false;
};

/// What `nvidia-smi topo -m` prints. Throws UserError with every mistake and its place.
DeviceTable read_device_table(const std::string& text, const std::string& file);

}  // namespace stepsim
