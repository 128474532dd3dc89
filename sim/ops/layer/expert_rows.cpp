// Rows of experts, counted by capacity, imbalance and padding.
#include "sim/ops/layer/expert_rows.hpp"

#include <algorithm>
#include <cmath>

#include "sim/ops/token_routes.hpp"

namespace stepsim {
namespace {

/// Rows of which quantised products take multiples (NVIDIA/Megatron-LM megatron/core/fp8_utils.py,
/// get_fp8_align_size; fp4_utils.py, get_fp4_align_size).
std::int64_t multiple_of(Quantisation quantisation) {
  switch (quantisation) {
    case Quantisation::nvfp4:
      return 128;
    case Quantisation::mxfp8:
      return 32;
    case Quantisation::delayed:
    case Quantisation::current:
    case Quantisation::blockwise:
      return 16;
  }
  return 16;
}

}  // namespace

Rows::Rows(const Pass& pass, const ExpertShape& shape) {
  const Experts& e = shape.experts;
  tokens = static_cast<double>(pass.outer_tokens());
  average = tokens * static_cast<double>(e.top_k);
  const auto count = static_cast<double>(e.count);
  sent =
      pass.experts.capacity ? std::ceil(average / count * *pass.experts.capacity) * count : average;
  received = pass.experts.capacity ? sent : sent * pass.experts.imbalance;
  computed = received * static_cast<double>(pass.expert_mesh.tensor);
  local = e.count / pass.experts.degree;
  each = std::max<std::int64_t>(std::llround(computed / static_cast<double>(local)), 1);
  if (pass.quantises()) pad(multiple_of(pass.quantisation));
  arrived = tokens * parts_reached(e, pass.experts.degree) * pass.experts.imbalance;
}

void Rows::pad(std::int64_t rows) {
  if (each % rows == 0) return;
  each = (each + rows - 1) / rows * rows;
  computed = static_cast<double>(each * local);
}

double row_bytes(const Pass& pass, const ExpertShape& shape) {
  return pass.element() * static_cast<double>(shape.hidden);
}

double sent_bytes(const Pass& pass, const ExpertShape& shape) {
  return pass.experts.fp8_dispatch ? kFp8Row * static_cast<double>(shape.hidden)
                                   : row_bytes(pass, shape);
}

bool arrive_quantised(const Pass& pass) {
  return pass.experts.fp8_dispatch && pass.linear == Precision::fp8;
}

double taken_bytes(const Pass& pass, const ExpertShape& shape) {
  return arrive_quantised(pass) ? sent_bytes(pass, shape) : row_bytes(pass, shape);
}

}  // namespace stepsim
