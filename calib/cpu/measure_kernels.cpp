// Measures products by OpenBLAS and loops over memory, on operands that are not in the cache.
#include "calib/cpu/gemm.hpp"
#include "calib/cpu/laboratory.hpp"
#include "calib/cpu/loops.hpp"
#include "calib/cpu/sampler.hpp"
#include "calib/harness/not_offered.hpp"

namespace stepsim::cpu {
namespace {

Pass pass_of(Transpose transpose) {
  switch (transpose) {
    case Transpose::TN:
      return Pass::forward;
    case Transpose::NN:
      return Pass::input_gradient;
    case Transpose::NT:
      return Pass::weight_gradient;
  }
  return Pass::forward;
}

int tensors_of(MemoryOp op) {
  switch (op) {
    case MemoryOp::copy:
    case MemoryOp::relu:
      return 2;
    case MemoryOp::add:
    case MemoryOp::squared_error:
      return 3;
    case MemoryOp::adam:
      return 4;
    default:
      throw calib::NotOffered("no loop of the trainer does that");
  }
}

void run(MemoryOp op, float* set, std::size_t count, int turn) {
  float *const a = set, *const b = a + count, *const c = b + count;
  switch (op) {
    case MemoryOp::copy:
      return copy(a, b, count);
    case MemoryOp::relu:
      return relu(a, b, count);
    case MemoryOp::add:
      return add(a, b, c, count);
    case MemoryOp::squared_error:
      (void)squared_error(a, b, c, count);
      return;
    case MemoryOp::adam:
      return adam({a, b, c, c + count}, 1e-3F, turn + 1, count);
    default:
      return;
  }
}

}  // namespace

Measured measure(const GemmPoint& point, const Bench& bench) {
  if (point.dtype != Precision::fp32 || point.batch != 1 || point.sustained)
    throw calib::NotOffered("only single products of fp32");
  const std::int64_t a = point.m * point.k, b = point.k * point.n, c = point.m * point.n;
  bench.arena.deal(a + b + c);
  Measured measured;
  measured.timing = time_alone(bench.ranks, [&](int turn) {
    float* const set = bench.arena.set(turn).data();
    multiply(pass_of(point.transpose), {point.m, point.n, point.k}, set, set + a, set + a + b,
             point.accumulate);
  });
  return measured;
}

Measured measure(const MemoryOpPoint& point, const Bench& bench) {
  const std::int64_t elements = point.rows * point.columns;
  const int tensors = tensors_of(point.op);
  if (point.dtype != Precision::fp32) throw calib::NotOffered("only fp32");
  bench.arena.deal(tensors * elements);
  Measured measured;
  measured.timing = time_alone(bench.ranks, [&](int turn) {
    run(point.op, bench.arena.set(turn).data(), static_cast<std::size_t>(elements), turn);
  });
  return measured;
}

}  // namespace stepsim::cpu
