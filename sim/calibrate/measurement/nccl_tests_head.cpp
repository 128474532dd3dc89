// Reading the head of nccl-tests: programs, ranks and hosts, and what the ratio of rates tells.
#include "sim/calibrate/measurement/nccl_tests_head.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "sim/core/suggest.hpp"

namespace stepsim {
namespace {

struct Test {
  const char* program;
  CollectiveOp op;
};
constexpr Test kTests[] = {{"all_reduce_perf", CollectiveOp::all_reduce},
                           {"all_gather_perf", CollectiveOp::all_gather},
                           {"reduce_scatter_perf", CollectiveOp::reduce_scatter},
                           {"broadcast_perf", CollectiveOp::broadcast},
                           {"alltoall_perf", CollectiveOp::all_to_all},
                           {"sendrecv_perf", CollectiveOp::shift}};

/// Nodes that answer to one name, as containers do, have each device as often as there are nodes.
int nodes_of(const std::map<std::string, int>& devices) {
  int most = 1;
  for (const auto& [device, count] : devices) most = std::max(most, count);
  return most;
}

}  // namespace

std::optional<CollectiveOp> nccl_program_in(const std::string& text) {
  for (const Test& test : kTests)
    if (text.find(test.program) != std::string::npos) return test.op;
  return {};
}

std::string nccl_programs() {
  std::vector<std::string> names;
  for (const Test& test : kTests) names.emplace_back(test.program);
  return one_of(names);
}

bool NcclHead::take_program(const std::string& line) {
  if (const auto found = nccl_program_in(line)) {
    op = found;
    program.clear();
    return true;
  }
  for (const char* other : {"reduce_perf", "gather_perf", "scatter_perf", "hypercube_perf"}) {
    if (line.find(other) == std::string::npos) continue;
    program = other;
    op.reset();
    return true;
  }
  return false;
}

bool NcclHead::take_statement(const std::string& line) {
  int number = 0;
  const auto states = [&](const char* form) {
    return std::sscanf(line.c_str(), form, &number) == 1 && number > 0;
  };
  if (states(" # gpus = %d")) {
    stated_gpus = number;
  } else if (states(" # nodes = %d")) {
    stated_nodes = number;
  } else {
    return false;
  }
  return true;
}

bool NcclHead::begins_run(const std::string& line) const {
  return line.find("nThread ") != std::string::npos ||
         line.find("nThreads:") != std::string::npos;  // as RCCL's tests write it
}

void NcclHead::forget_ranks() {
  ranks = 0;
  hosts.clear();
}

int NcclHead::nodes() const {
  if (stated_nodes > 0) return stated_nodes;
  int sum = 0;
  for (const auto& [host, devices] : hosts) sum += nodes_of(devices);
  return std::max(sum, 1);
}

bool NcclHead::is_even() const {
  if (stated_nodes > 0) return gpus() % stated_nodes == 0;
  const auto each = [&](const std::map<std::string, int>& devices) {
    int sum = 0;
    for (const auto& [device, count] : devices) sum += count;
    return sum * nodes() == ranks * nodes_of(devices);
  };
  return std::all_of(hosts.begin(), hosts.end(),
                     [&](const auto& host) { return each(host.second); });
}

double rate_ratio(CollectiveOp op, int gpus) {
  const double others = (gpus - 1.0) / gpus;
  switch (op) {
    case CollectiveOp::all_reduce:
      return 2 * others;
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
      return others;
    default:
      return 1;  // broadcast, shift
  }
}

int gpus_of_rate_ratio(CollectiveOp op, double factor, double error) {
  const double limit = rate_ratio(op, 1 << 30);
  if (rate_ratio(op, 2) > 0.99 * limit || factor >= limit) return 0;  // the same for all counts
  const int gpus = static_cast<int>(std::lround(limit / (limit - factor)));
  const auto is_off = [&](int count) { return std::abs(rate_ratio(op, count) - factor); };
  const bool is_one = gpus >= 2 && is_off(gpus) <= error && is_off(gpus + 1) > error &&
                      (gpus == 2 || is_off(gpus - 1) > error);
  return is_one ? gpus : 0;
}

}  // namespace stepsim
