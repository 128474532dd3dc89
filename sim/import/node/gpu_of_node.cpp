// Which GPU a node has, by its name or by what shows of it.
#include "sim/import/node/gpu_of_node.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {
namespace {

/// NVLinks of a GPU. Behind a switch each pair shows all of them.
int nvlinks_of(const ObservedNode& node) {
  constexpr int kMost = 18;  // of Hopper and Blackwell
  int pair = node.switched, sum = node.switched;
  for (const auto& row : node.nvlinks) {
    sum = std::max(sum, std::accumulate(row.begin(), row.end(), 0));
    for (const int links : row) pair = std::max(pair, links);
  }
  return sum > kMost ? pair : sum;
}

int most_of_a_pair(const ObservedNode& node) {
  int most = 0;
  for (const auto& row : node.nvlinks)
    for (const int count : row) most = std::max(most, count);
  return most;
}

/// Whether pairs show more links together than any GPU has: those to a switch.
bool is_behind_switch(const ObservedNode& node) {
  return std::any_of(node.nvlinks.begin(), node.nvlinks.end(), [&](const auto& row) {
    return std::accumulate(row.begin(), row.end(), 0) > nvlinks_of(node);
  });
}

/// A GPU by what shows of it: its NVLinks, its slot, the CPU beside it.
const KnownGpu& guessed_gpu(const ObservedNode& node) {
  const int links = nvlinks_of(node), pair = most_of_a_pair(node);
  // Two to four modules of Hopper are joined to each other, those of Blackwell by a switch.
  if (node.is_beside_cpu) return *known_gpu(is_behind_switch(node) ? "gb200" : "h100");
  if (links == 0 && node.slot_speed >= known_gpu("h100")->pcie) return *known_gpu("h100");
  const bool is_volta = links > 0 && links <= 6 && (pair <= 2 || pair == 6);
  return *known_gpu(links > 12 ? "h100" : is_volta ? "v100" : "a100-80");
}

/// What of it made a GPU the guess.
std::string sign_of_gpu(const ObservedNode& node) {
  const int links = nvlinks_of(node);
  std::string sign = links > 0 ? fmt::format("a GPU shows {} NVLinks", links) : "no NVLinks show";
  if (node.slot_speed > 0) sign += fmt::format(", slots of {:g} GT/s", node.slot_speed);
  if (node.is_beside_cpu) sign += ", and its memory is a NUMA node, as beside a Grace CPU";
  return sign;
}

/// Others of the same generation, which a compute capability does not tell apart.
std::vector<std::string> likes_of(const KnownGpu& gpu) {
  std::vector<std::string> names;
  for (const std::string& name : known_gpus())
    if (name != gpu.profile && known_gpu(name)->sm == gpu.sm) names.push_back(name);
  return names;
}

}  // namespace

const KnownGpu& gpu_for(ObservedNode& node, const std::string& stated) {
  if (!stated.empty()) {
    const KnownGpu* gpu = known_gpu(stated);
    if (gpu == nullptr)
      throw UserError(fmt::format("--gpu {}: imports know of no such GPU, {}", stated,
                                  did_you_mean(stated, known_gpus())));
    node.gpu_from = "--gpu" + (node.gpu_from.empty() ? "" : "; " + node.gpu_from);
    return *gpu;
  }
  const auto assume = [&](const KnownGpu& gpu, const std::string& why) {
    node.assumptions.insert(node.assumptions.begin(),
                            {"gpu", std::string(gpu.profile), why, "--gpu NAME"});
  };
  if (const KnownGpu* gpu = known_gpu(node.gpu)) {
    std::vector<std::string> likes = likes_of(*gpu);
    if (likes.empty()) likes.emplace_back("other GPUs");
    if (node.gpu_from.starts_with("sm "))
      assume(*gpu, fmt::format("{} is also that of {}", node.gpu_from, fmt::join(likes, ", ")));
    return *gpu;
  }
  const KnownGpu& guess = guessed_gpu(node);
  assume(guess, fmt::format("{}; {}",
                            node.gpu_from.empty() ? "not named"
                                                  : node.gpu_from + " is of no GPU known here",
                            sign_of_gpu(node)));
  node.gpu_from = fmt::format("not seen: which GPU{}; --gpu says another",
                              node.gpu_from.empty() ? "" : " (" + node.gpu_from + ")");
  return guess;
}

}  // namespace stepsim
