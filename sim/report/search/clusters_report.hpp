// Searches on several clusters side by side: what a training takes and costs on each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/search/search_report.hpp"

namespace stepsim {

/// One cluster with its best strategy, or the reason why there is none.
struct ClusterSearch {
  std::string cluster, gpu;
  int gpus_of_node = 0;                ///< that are used of each
  std::optional<SearchReport> search;  ///< absent: it was not searched
  std::string reason;                  ///< why not

  const TriedStrategy* best() const {
    return search && !search->listed.empty() ? &search->listed.front() : nullptr;
  }
  /// GPU hours of the training; absent without a training.
  std::optional<double> gpu_hours() const;
  /// What they cost; absent without a price.
  std::optional<double> dollars() const;
  /// The energy of the training; absent where the GPU's power is not known.
  std::optional<double> kwh() const;
  std::optional<double> kg_of_co2e() const;
};

struct ClustersReport {
  std::string scenario, model;
  int gpus = 0;
  std::int64_t global_batch = 0;
  std::vector<ClusterSearch> clusters;  ///< in the order in which they were asked for
};

std::string clusters_text(const ClustersReport& report, const Screen& screen);
/// Schema stepsim.clusters/1.
std::string clusters_json(const ClustersReport& report);
std::string clusters_csv(const ClustersReport& report);

}  // namespace stepsim
