// Measures sums over the ranks, alone and beside products, as the trainer does both.
#include <algorithm>
#include <cmath>

#include "calib/cpu/gemm.hpp"
#include "calib/cpu/laboratory.hpp"
#include "calib/cpu/sampler.hpp"
#include "calib/harness/not_offered.hpp"

namespace stepsim::cpu {
namespace {

void check_ranks(std::int64_t wanted, const Ranks& ranks) {
  if (wanted != ranks.size() || wanted < 2)
    throw calib::NotOffered("another number of ranks than was started");
}

std::int64_t floats_of(std::int64_t bytes) {
  return std::max<std::int64_t>(bytes / static_cast<std::int64_t>(sizeof(float)), 1);
}

/// Sums over the ranks in place. The numbers of a set grow with each turn, in the end to infinity,
/// which a sum takes as long with; only numbers near zero would be slower, and there are none.
void all_reduce(const Ranks& ranks, float* values, std::size_t count) {
  AllReduces reductions(ranks);
  reductions.start(values, count);
  reductions.finish();
}

}  // namespace

Measured measure(const CollectivePoint& point, const Bench& bench) {
  check_ranks(point.gpus, bench.ranks);
  if (point.op != CollectiveOp::all_reduce) throw calib::NotOffered("only all_reduce");
  const std::int64_t floats = floats_of(point.bytes);
  const auto count = static_cast<std::size_t>(floats);
  Measured measured;
  bench.arena.deal(floats);
  measured.timing = time_together(
      bench.ranks, [&](int turn) { all_reduce(bench.ranks, bench.arena.set(turn).data(), count); });
  return measured;
}

Measured measure(const OverlapPoint& point, const Bench& bench) {
  check_ranks(point.gpus, bench.ranks);
  const std::int64_t a = point.m * point.k, b = point.k * point.n, c = point.m * point.n;
  const std::int64_t floats = floats_of(point.bytes);
  bench.arena.deal(a + b + c + floats);
  const auto count = static_cast<std::size_t>(floats);
  const auto product = [&](int turn) {
    float* const set = bench.arena.set(turn).data();
    multiply(Pass::forward, {point.m, point.n, point.k}, set, set + a, set + a + b, false);
  };
  const auto sum = [&](int turn) {
    all_reduce(bench.ranks, bench.arena.set(turn).data() + a + b + c, count);
  };
  const Timing products = time_alone(bench.ranks, product);
  const Timing sums = time_together(bench.ranks, sum);
  // A row has as many products as take the time of the sum.
  const int row = std::max(
      1, static_cast<int>(std::lround(bench.ranks.of_first(sums.seconds / products.seconds))));
  const Timing both = time_together(bench.ranks, [&](int turn) {
    AllReduces reductions(bench.ranks);
    reductions.start(bench.arena.set(turn).data() + a + b + c, count);
    for (int i = 0; i < row; ++i) {
      product(turn + i);
      reductions.progress();
    }
    reductions.finish();
  });
  const bool of_products = point.timed == Activity::gemm;
  const double share = of_products ? row : 1;
  Measured measured;
  measured.timing = {both.seconds / share, both.p10 / share, both.p90 / share, both.repeats};
  measured.alone_seconds = of_products ? products.seconds : sums.seconds;
  measured.products = row;
  return measured;
}

}  // namespace stepsim::cpu
