// Batches to train on: random numbers that are there from the start, or JPEG files that workers
// read and decode.
//
// The target of a sample is the sample itself, turned by one place: something that can be learned.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "validate/trainer/mlp.hpp"

namespace stepsim::trainer {

struct Batch {
  std::span<const float> input, target;
};

class Batches {
 public:
  virtual ~Batches() = default;
  /// The next batch, which is valid until the next call.
  virtual Batch next() = 0;
};

/// Four batches that take turns, of numbers in [0, 1). Sample i of rank r is the same for any
/// number of ranks, as long as ranks x batch is.
std::unique_ptr<Batches> random_batches(const Shape& shape, int rank, int ranks);

struct Pictures {
  int width = 0, height = 0;  ///< pixels of each picture; 0: no pictures
  int workers = 1, prefetch = 2;
  int steps = 0;  ///< batches that will be taken
};

#ifdef STEPSIM_PICTURES
/// Batches of pictures, from files in a temporary folder that goes with them.
std::unique_ptr<Batches> picture_batches(const Shape& shape, const Pictures& pictures, int rank);
#endif

/// Makes the targets of samples: each sample turned by one place.
void make_targets(std::span<const float> input, std::span<float> target, std::size_t width);

}  // namespace stepsim::trainer
