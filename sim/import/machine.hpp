// The GPUs of an imported run: a cluster with its nodes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "sim/import/draft.hpp"
#include "sim/import/import_options.hpp"
#include "sim/scenario/cluster.hpp"

namespace stepsim {

/// How many GPUs the imported run has: the cluster's name with nodes and GPUs per node.
struct Machine {
  Cluster cluster;   ///< as named, before nodes are set
  std::string base;  ///< its name or path, as the scenario has to say it
  int nodes = 1;
  int gpus_per_node = 8;
  int gpus() const { return nodes * gpus_per_node; }
};

/// What the source says of the machine. 0 and less is "not stated".
struct StatedMachine {
  int nodes = 0;
  int gpus_per_node = 0;
  int gpus = 0;    ///< all of them, where the source does not count nodes
  int needed = 1;  ///< GPUs of one replica, which decide the nodes where nobody states them
  std::string why = "stated, not how many a node has";  ///< where `gpus` comes from
};

inline constexpr std::int64_t kMostGpus = 1'000'000;

/// The product of the degrees of a split, or of other counts. Throws UserError above kMostGpus.
int product_of(std::initializer_list<std::int64_t> degrees);

/// The machine of the options and of the source; the options count first. What neither states is
/// assumed, and listed in the draft.
Machine machine_for(const ImportOptions& options, const StatedMachine& stated, Draft& draft);

/// GPUs of a node where the source does not state them.
int usual_gpus_per_node(const ImportOptions& options);

/// "{base: dgx-h100, nodes: 4}"
std::string cluster_text(const Machine& machine);

/// Whether the GPU's profile has that attention kernel.
bool has_attention(const GpuProfile& gpu, std::string_view kernel);

/// The fastest fused attention kernel that the GPU's profile has; "unfused" when there is none.
std::string fused_attention(const GpuProfile& gpu);

/// What PyTorch's scaled_dot_product_attention runs: FlashAttention-2, or the fastest kernel where
/// the profile has none of it.
std::string torch_attention(const GpuProfile& gpu);

}  // namespace stepsim
