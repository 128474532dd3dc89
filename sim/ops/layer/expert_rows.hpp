// How many rows of tokens experts get, and how many bytes a row has on its way.
#pragma once

#include <cstdint>

#include "sim/ops/layer/layers.hpp"

namespace stepsim {

/// How many rows go where; a row is one token on its way to one expert.
struct Rows {
  Rows(const Pass& pass, const ExpertShape& shape);

  double tokens;       ///< tokens of this rank
  double average;      ///< one for each expert of each token
  double sent;         ///< with what a capacity pads
  double received;     ///< by the busiest rank
  double computed;     ///< rows with those of the other ranks that share the experts
  std::int64_t local;  ///< experts of this rank
  std::int64_t each;   ///< rows of one of them
  double arrived;      ///< at the busiest rank, where a token comes once for all its experts there

 private:
  /// Quantised products take multiples of so many rows (TransformerEngine's Fp8Padding and
  /// Fp4Padding).
  void pad(std::int64_t rows);
};

/// Bytes of fp8 with a scale in fp32 for each 128 numbers, as the report has them (arXiv
/// 2412.19437, section 3.3.2).
inline constexpr double kFp8Row = 1 + 4.0 / 128;

/// Bytes of a row in the pass's own precision.
double row_bytes(const Pass& pass, const ExpertShape& shape);
/// Bytes of a row on its way to its experts.
double sent_bytes(const Pass& pass, const ExpertShape& shape);
/// Whether rows arrive as products take them.
bool arrive_quantised(const Pass& pass);
/// Bytes of a row that experts read.
double taken_bytes(const Pass& pass, const ExpertShape& shape);

}  // namespace stepsim
