// What the importers of foreign configurations share: a scenario in the making, and its notes.
//
// Each writes YAML that states only what the source states; `framework` fills in the rest. What the
// source says and a scenario cannot is a note, which stands at the top of the file and goes to
// standard error. The text is read and checked before it is written: an import is a scenario.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/import_options.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// YAML of one scenario, section by section.
class Draft {
 public:
  explicit Draft(std::string title) : title_(std::move(title)) {}

  /// A key of the scenario, with whatever stands on its line.
  void line(const std::string& text) { body_ += text + "\n"; }
  /// A map in flow style; nothing when it has no entries.
  void map(const std::string& key, const std::vector<std::string>& entries);
  void note(const std::string& what, const std::string& why) {
    notes_.push_back(what + ": " + why);
  }

  const std::vector<std::string>& notes() const { return notes_; }
  std::string text() const;

 private:
  std::string title_, body_;
  std::vector<std::string> notes_;
};

/// How many GPUs the imported run has: the cluster's name with nodes and GPUs per node.
struct Machine {
  Cluster cluster;  ///< as named, before nodes are set
  int nodes = 1;
  int gpus_per_node = 8;
  int gpus() const { return nodes * gpus_per_node; }
};

/// `needed`: GPUs of one replica, which decide the nodes where nobody states them; 0 and less is
/// "not stated".
Machine machine_for(const std::string& cluster, int nodes, int gpus_per_node, int needed);
/// "{base: dgx-h100, nodes: 4}"
std::string cluster_text(const Machine& machine);

/// The fastest fused attention kernel that the GPU's profile has; "unfused" when there is none.
std::string fused_attention(const GpuProfile& gpu);

/// "160 MB"
std::string size_text(double bytes);

Draft import_megatron(const ImportOptions& options);
Draft import_deepspeed(const ImportOptions& options);

}  // namespace stepsim
