// How each constant is slowed down, and stated.
#include "sim/command/machine_constants.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

bool slow_products(Scenario& s, double times) {
  for (GemmProfile& gemm : s.cluster.gpu.gemm) gemm.sustained *= times;
  return true;
}

std::vector<std::string> settings_of_products(const Scenario& s) {
  std::vector<std::string> settings;
  for (const GemmProfile& gemm : s.cluster.gpu.gemm) {
    // What is not quantised in narrow formats is multiplied in bf16.
    const bool beside = bytes_per_element(s.training.precision) < 2;
    if (gemm.precision == s.training.precision || (beside && gemm.precision == Precision::bf16))
      settings.push_back(fmt::format("cluster.gpu.gemm.{}.sustained={:.4g}",
                                     name_of(gemm.precision), gemm.sustained));
  }
  return settings;
}

bool slow_network(Scenario& s, double times) {
  if (!s.cluster.inter_node || s.cluster.nodes < 2) return false;
  s.cluster.inter_node->efficiency = std::min(1.0, s.cluster.inter_node->efficiency / times);
  return true;
}

std::vector<std::string> settings_of_network(const Scenario& s) {
  if (!s.cluster.inter_node) return {};
  return {fmt::format("cluster.inter_node.efficiency={:.4g}", s.cluster.inter_node->efficiency)};
}

bool slow_host(Scenario& s, double times) {
  if (s.host.graph()) return false;
  s.host.launch = s.host.launch * times;
  if (s.host.counts_calls()) s.host.speed /= times;
  return true;
}

std::vector<std::string> settings_of_host(const Scenario& s) {
  std::vector<std::string> settings{
      fmt::format("host.launch={:.4g}us", s.host.launch.microseconds())};
  if (s.host.counts_calls()) settings.push_back(fmt::format("host.speed={:.4g}", s.host.speed));
  return settings;
}

}  // namespace

// How far machines of one kind are apart: products of five B200 under load by 1.39 from one end to
// the other (calib/README.md); fabrics of one rate by 0.8 to 0.98 of it; hosts by 18 to 43 us a
// kernel (docs/host.md).
const std::array<MachineConstant, kMachineConstants> machine_constants{
    MachineConstant{"matrix products under load", 0.10, slow_products, settings_of_products},
    MachineConstant{"network between nodes", 0.20, slow_network, settings_of_network},
    MachineConstant{"host", 0.35, slow_host, settings_of_host}};

}  // namespace stepsim
