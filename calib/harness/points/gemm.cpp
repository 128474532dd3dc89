// GEMMs of training steps: linear layers of common widths, split by tensor parallelism, over
// micro-batches of common sizes; and a coarse grid of powers of two between them for the fit.
#include <array>
#include <set>
#include <utility>

#include "calib/harness/points.hpp"

namespace stepsim::calib {
namespace {

struct Layer {
  std::int64_t out, in;
};

/// The four linear layers of a transformer layer, as one of `tensor` ranks has them.
std::vector<Layer> layers(std::int64_t hidden, std::int64_t tensor) {
  return {{3 * hidden / tensor, hidden},
          {hidden, hidden / tensor},
          {4 * hidden / tensor, hidden},
          {hidden, 4 * hidden / tensor}};
}

/// Hidden sizes and tensor ranks of GPT-2 medium, 1.3B, 7B, 70B and GPT-3, split as they commonly
/// are.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 9> kWidths = {{
    {1024, 1},
    {2048, 1},
    {4096, 1},
    {4096, 2},
    {4096, 8},
    {8192, 4},
    {8192, 8},
    {12288, 4},
    {12288, 8},
}};

constexpr std::array<std::int64_t, 3> kTokens = {1024, 4096, 16384};

/// The forward pass of a layer and its two gradients (see Transpose).
std::vector<Point> passes(Precision dtype, std::int64_t tokens, Layer layer) {
  return {
      GemmPoint{dtype, Transpose::TN, tokens, layer.out, layer.in},
      GemmPoint{dtype, Transpose::NN, tokens, layer.in, layer.out},
      GemmPoint{dtype, Transpose::NT, layer.out, layer.in, tokens},
  };
}

void append(std::vector<Point>& points, const std::vector<Point>& more) {
  points.insert(points.end(), more.begin(), more.end());
}

void add_layers(std::vector<Point>& points) {
  for (const auto& [hidden, tensor] : kWidths) {
    for (const Layer layer : layers(hidden, tensor)) {
      for (const std::int64_t tokens : kTokens) {
        append(points, passes(Precision::bf16, tokens, layer));
        points.push_back(GemmPoint{Precision::fp8, Transpose::TN, tokens, layer.out, layer.in});
      }
      // Megatron-LM accumulates into an fp32 gradient in a fused kernel.
      points.push_back(
          GemmPoint{Precision::bf16, Transpose::NT, layer.out, layer.in, 4096, 1, true});
    }
  }
  // The head of a vocabulary is wide, and its width is odd.
  for (const std::int64_t tokens : kTokens)
    append(points, passes(Precision::bf16, tokens, {50257, 4096}));
}

/// Adds a grid from less than one tile a GPU to many waves.
void add_grid(std::vector<Point>& points, Precision dtype) {
  for (std::int64_t m = 128; m <= 8192; m *= 4)
    for (std::int64_t n = 512; n <= 16384; n *= 4)
      for (std::int64_t k = 128; k <= 16384; k *= 4)
        points.push_back(GemmPoint{dtype, Transpose::TN, m, n, k});
}

/// Adds batched products: the experts of a layer in one kernel, and the scores and the context of
/// attention that is not fused.
void add_batched(std::vector<Point>& points) {
  for (const std::int64_t rows : {128, 512, 2048})
    for (const std::int64_t experts : {8, 32})
      points.push_back(GemmPoint{Precision::bf16, Transpose::TN, rows, 2048, 4096, experts});
  for (const std::int64_t sequence : {512, 1024, 2048}) {
    points.push_back(GemmPoint{Precision::bf16, Transpose::TN, sequence, sequence, 64, 64});
    points.push_back(GemmPoint{Precision::bf16, Transpose::NN, sequence, 64, sequence, 64});
  }
}

/// Adds kernels that are measured when the clock has settled.
void add_sustained(std::vector<Point>& points) {
  for (const Precision dtype : kBenchmarked)
    for (const std::int64_t size : {4096, 8192})
      for (const bool sustained : {false, true})
        points.push_back(GemmPoint{dtype, Transpose::TN, size, size, size, 1, false, sustained});
}

/// The points without repetition: a point that two of the lists contain is measured once.
std::vector<Point> without_repetition(const std::vector<Point>& points) {
  std::vector<Point> once;
  std::set<std::string> seen;
  for (const Point& point : points)
    if (seen.insert(identity(point)).second) once.push_back(point);
  return once;
}

}  // namespace

std::vector<Point> gemm_points() {
  std::vector<Point> points;
  add_layers(points);
  for (const Precision dtype : kBenchmarked) add_grid(points, dtype);
  add_batched(points);
  add_sustained(points);
  return without_repetition(points);
}

}  // namespace stepsim::calib
