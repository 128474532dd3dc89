// Lists the grids, and computes what a setting needs.
#include "validate/trainer/selfcheck/setting.hpp"

#include <fmt/format.h>

namespace stepsim::selfcheck {
namespace {

void add_workers(std::vector<Setting>& grid, Setting setting, const std::vector<int>& workers) {
  for (const int count : workers) {
    setting.workers = count;
    grid.push_back(setting);
  }
}

void add_buckets(std::vector<Setting>& grid, Setting setting, const std::vector<int>& kib) {
  for (const int size : kib) {
    setting.bucket_kib = size;
    grid.push_back(setting);
  }
}

}  // namespace

// Buckets go from one layer's gradients to those of all layers, because a layer's gradients are
// never divided. Loaders go from too slow to fast enough.
std::vector<Setting> full_grid() {
  std::vector<Setting> grid{{1, 8, 1024, 64},  {1, 4, 512, 64},  {1, 4, 512, 256},
                            {1, 12, 256, 128}, {1, 16, 256, 32}, {1, 4, 1024, 256},
                            {1, 6, 768, 96},   {1, 2, 2048, 64}};
  add_workers(grid, {1, 4, 256, 64}, {0, 1, 2, 3});
  add_workers(grid, {1, 8, 1024, 16}, {0, 1, 2});
  add_workers(grid, {1, 6, 768, 32}, {0, 1, 2});
  add_buckets(grid, {2, 8, 1024, 64}, {4096, 8192, 16384, 32768});
  add_buckets(grid, {2, 12, 512, 128}, {1024, 4096, 12288});
  add_buckets(grid, {2, 16, 256, 64}, {256, 1024, 4096});
  add_buckets(grid, {2, 4, 1024, 256}, {4096, 16384});
  return grid;
}

std::vector<Setting> short_grid() {
  std::vector<Setting> grid{{1, 8, 1024, 64}, {1, 4, 512, 256}};
  add_workers(grid, {1, 4, 256, 64}, {0, 1});
  add_buckets(grid, {2, 8, 1024, 64}, {4096, 32768});
  return grid;
}

double working_set_bytes(const Setting& s) {
  const double layers = s.layers, width = s.width, tensor = width * s.batch;
  constexpr double kFloat = 4;
  // Counts what an Mlp holds (mlp.hpp): inputs and linears of the layers, the last output, the
  // target, the difference and two gradients; a batch and its targets lie elsewhere.
  return kFloat * (4 * layers * width * width + (2 * layers + 1 + 4 + 2) * tensor);
}

std::string bucket_text(const Setting& setting) {
  const int kib = setting.bucket_kib;
  return kib % 1024 == 0 ? fmt::format("{} MiB", kib / 1024) : fmt::format("{} KiB", kib);
}

}  // namespace stepsim::selfcheck
