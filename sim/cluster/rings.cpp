// Searches for rings: a widest Hamiltonian cycle by backtracking, bounded in steps.
//
// NCCL's search (NVIDIA/nccl src/graph/search.cc) also looks for as many channels as the links
// carry, at one speed for all; here each ring has the width that its links allow.
#include "sim/cluster/rings.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace stepsim {
namespace {

using Widths = std::vector<std::vector<double>>;

constexpr int kMostSteps = 100'000;  // steps for one cycle; nodes have few GPUs
// a ring that has less than this share of the first one's width is not worth it
constexpr double kLeast = 0.25;

/// A search for a cycle through all GPUs over links of at least one width.
class CycleSearch {
 public:
  CycleSearch(const Widths& widths, double least) : widths_(widths), least_(least) {
    path_ = {0};
    used_.assign(widths.size(), false);
    used_[0] = true;
  }

  bool find() { return extend(); }
  const std::vector<std::size_t>& path() const { return path_; }

 private:
  bool joined(std::size_t a, std::size_t b) const { return widths_[a][b] >= least_; }

  bool extend() {
    if (path_.size() == widths_.size()) return joined(path_.back(), 0);
    for (std::size_t next = 1; next < widths_.size(); ++next) {
      if (used_[next] || !joined(path_.back(), next)) continue;
      if (++steps_ > kMostSteps) return false;
      used_[next] = true;
      path_.push_back(next);
      if (extend()) return true;
      path_.pop_back();
      used_[next] = false;
    }
    return false;
  }

  const Widths& widths_;
  double least_;
  std::vector<std::size_t> path_;
  std::vector<bool> used_;
  int steps_ = 0;
};

struct Cycle {
  double width = 0;
  std::vector<std::size_t> path;
};

/// The widest cycle; its width is 0 when there is none.
Cycle widest_cycle(const Widths& widths) {
  std::set<double, std::greater<>> levels;
  for (const auto& row : widths) levels.insert(row.begin(), row.end());
  for (const double level : levels) {
    if (level <= 0) break;
    CycleSearch search(widths, level);
    if (search.find()) return {level, search.path()};
  }
  return {};
}

void take(Widths& widths, const Cycle& cycle) {
  for (std::size_t i = 0; i < cycle.path.size(); ++i) {
    const std::size_t a = cycle.path[i], b = cycle.path[(i + 1) % cycle.path.size()];
    widths[a][b] -= cycle.width;
    // a ring of two comes by here a second time
    if (cycle.path.size() > 2) widths[b][a] -= cycle.width;
  }
}

std::vector<Ring> rings_of(const std::vector<Cycle>& cycles, const std::vector<int>& gpus) {
  double sum = 0;
  for (const Cycle& cycle : cycles) sum += cycle.width;
  const bool two_ways = gpus.size() > 2;
  std::vector<Ring> rings;
  for (const Cycle& cycle : cycles) {
    Ring ring{cycle.width / sum / (two_ways ? 2 : 1), {}};
    for (const std::size_t i : cycle.path) ring.gpus.push_back(gpus[i]);
    rings.push_back(ring);
    if (!two_ways) continue;
    std::ranges::reverse(ring.gpus);
    rings.push_back(std::move(ring));
  }
  return rings;
}

std::vector<int> nearest_first(const std::vector<int>& gpus,
                               const std::function<Joint(std::size_t, std::size_t)>& joint) {
  std::vector<std::size_t> left(gpus.size() - 1);
  std::iota(left.begin(), left.end(), 1);
  std::size_t at = 0;
  std::vector<int> order{gpus.front()};
  while (!left.empty()) {
    const auto next = std::ranges::min_element(left, [&](auto a, auto b) {
      const Joint to_a = joint(at, a), to_b = joint(at, b);
      return to_a.links != to_b.links ? to_a.links < to_b.links : to_a.width > to_b.width;
    });
    at = *next;
    order.push_back(gpus[at]);
    left.erase(next);
  }
  return order;
}

}  // namespace

std::vector<Ring> rings_over(const std::vector<int>& gpus,
                             const std::function<Joint(std::size_t, std::size_t)>& joint) {
  Widths widths(gpus.size(), std::vector<double>(gpus.size(), 0));
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t k = 0; k < gpus.size(); ++k) {
      if (i == k || joint(i, k).links != 1 || joint(k, i).links != 1) continue;
      widths[i][k] = std::min(joint(i, k).width, joint(k, i).width);
    }
  }
  std::vector<Cycle> cycles;
  for (Cycle cycle = widest_cycle(widths); cycle.width > 0; cycle = widest_cycle(widths)) {
    if (!cycles.empty() && cycle.width < kLeast * cycles.front().width) break;
    take(widths, cycle);
    cycles.push_back(std::move(cycle));
  }
  if (cycles.empty()) return {{1, nearest_first(gpus, joint)}};
  return rings_of(cycles, gpus);
}

}  // namespace stepsim
