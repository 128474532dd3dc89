// A chain under changing speed: closed forms for kernels beside collectives.
#include "sim/engine/chain_run.hpp"

#include <doctest/doctest.h>

#include "sim/plan/group/resources.hpp"

using namespace stepsim;

namespace {

/// n GEMMs of 1 s each, launched in no time.
Chain gemms(int n, double launch = 0) {
  Chain chain{.kernels = std::vector<Kernel>(static_cast<std::size_t>(n), Kernel{.seconds = 1}),
              .launch_each = launch};
  contract(chain);
  return chain;
}

constexpr Taken kQuarterOfSms{.held_sms = 0.25};
constexpr Taken kNothing{};

}  // namespace

TEST_CASE("alone a chain takes the sum of its kernels") {
  const Chain chain = gemms(3);
  CHECK(ChainRun(chain, 2, 0, false).end(kNothing) == doctest::Approx(5));
}

TEST_CASE("a chain that starts beside a collective runs at the speed of the SMs left") {
  // 3 s of work at 3/4 of the speed take 4 s.
  const Chain chain = gemms(3);
  CHECK(ChainRun(chain, 0, 0, false).end(kQuarterOfSms) == doctest::Approx(4));
}

TEST_CASE("a running kernel's end moves when a collective starts and stops beside it") {
  // A collective runs beside a kernel of 1 s from 0.2 to 0.6. In these 0.4 s the kernel does 0.3 s
  // of work, so that it ends at 1.1 and has lost 0.1 s.
  const Chain chain = gemms(1);
  ChainRun run(chain, 0, 0, true);
  run.advance(0.2, kNothing);
  CHECK(run.end(kQuarterOfSms) == doctest::Approx(0.2 + 0.8 / 0.75));
  run.advance(0.6, kQuarterOfSms);
  CHECK(run.end(kNothing) == doctest::Approx(1.1));
  run.advance(1.1 + 1e-12, kNothing);
  CHECK(run.contention() == doctest::Approx(0.1));
  REQUIRE(run.kernels().size() == 1);
  CHECK(run.kernels()[0].second == doctest::Approx(1.1));
}

TEST_CASE("launch gaps are not slowed") {
  // Launched every 2 s, each kernel of 1 s takes 4/3 s beside the collective: the last ends at 3 *
  // 2 + 4/3.
  const Chain chain = gemms(3, 2);
  CHECK(ChainRun(chain, 0, 0, false).end(kQuarterOfSms) == doctest::Approx(6 + 4.0 / 3));
  ChainRun run(chain, 0, 0, true);
  run.advance(100, kQuarterOfSms);
  CHECK(run.contention() == doctest::Approx(3 * (4.0 / 3 - 1)));
}

TEST_CASE("touching a chain without taking anything changes nothing") {
  const Chain chain = gemms(5, 0.7);
  const double end = ChainRun(chain, 1, 0.5, false).end(kNothing);
  ChainRun run(chain, 1, 0.5, false);
  for (const double date : {1.1, 1.9, 3.0, 3.0, 4.7}) run.advance(date, kNothing);
  CHECK(run.end(kNothing) == doctest::Approx(end).epsilon(1e-12));
  CHECK(run.contention() == 0);
}

TEST_CASE("memory-bound kernels feel memory traffic, the others feel SMs") {
  const Kernel gemm{.seconds = 1};
  const Kernel copy{.seconds = 1, .memory_bound = true};
  CHECK(slowdown(gemm, {.held_sms = 0.2, .memory_share = 0.4}) == doctest::Approx(1.25));
  CHECK(slowdown(copy, {.held_sms = 0.2, .memory_share = 0.4}) == doctest::Approx(1 / 0.6));
}

TEST_CASE("a kernel with a block for each SM loses more than the SMs that are held") {
  const Kernel gemm{.seconds = 1, .contention = 1.5};
  CHECK(slowdown(gemm, {.held_sms = 0.2, .memory_share = 0.4}) == doctest::Approx(1.25 * 1.5));
  CHECK(slowdown(gemm, {.memory_share = 0.4}) == 1);
  // 1 s of work beside a collective until 0.75 does 0.75 * 0.75 / 1.5 s of it.
  const Chain chain{.kernels = {gemm}};
  ChainRun run(chain, 0, 0, false);
  run.advance(0.75, kQuarterOfSms);
  CHECK(run.end(kNothing) == doctest::Approx(0.75 + 1 - 0.375));
}

TEST_CASE("a kernel that leaves SMs to an exchange loses these and no more") {
  const Kernel gemm{.seconds = 1, .contention = 1.5};
  CHECK(slowdown(gemm, {.reserved_sms = 0.2}) == doctest::Approx(1.25));
  CHECK(slowdown(gemm, {.held_sms = 0.3, .reserved_sms = 0.2}) == doctest::Approx(2 * 1.5));
  CHECK(slowdown({.seconds = 1, .memory_bound = true}, {.reserved_sms = 0.2}) == 1);
}

TEST_CASE("a device that moves messages itself computes in the time that is left") {
  const Kernel gemm{.seconds = 1};
  const Kernel copy{.seconds = 1, .memory_bound = true};
  CHECK(slowdown(gemm, {.device_share = 0.6}) == doctest::Approx(1 / 0.4));
  CHECK(slowdown(copy, {.device_share = 0.6}) == doctest::Approx(1 / 0.4));
  // A message of 2 s that takes the core whole: 1 s of work ends 3 s after its start, but for the
  // hundredth that goes on beside it.
  const Chain chain = gemms(1);
  ChainRun run(chain, 0, 0, false);
  run.advance(2, {.device_share = 1});
  CHECK(run.end(kNothing) == doctest::Approx(3 - 0.02));
}

TEST_CASE("an all-reduce moves 5(n-1)/n of its message through each memory") {
  // 3(n-1)/n for the reductions, 2(n-1)/n for the gather.
  CHECK(memory_traffic(CollectiveOp::all_reduce, 8_GB, 4) / 1_GB == doctest::Approx(30));
}

TEST_CASE("each channel holds one SM, but not the last, and a core has none to give") {
  const GpuProfile gpu{.sms = 100};
  CHECK(share_of_sms(16, gpu) == doctest::Approx(0.16));
  CHECK(share_of_sms(128, gpu) == doctest::Approx(0.99));
  CHECK(share_of_sms(16, GpuProfile{.sms = 1}) == 0);
}

TEST_CASE("a collective uses as much of the memory's bandwidth as it moves in its time") {
  Operation operation{.phases = {Phase{.latency = 1_ms}}};
  use_memory(operation, Bytes{1e8}, GpuProfile{.memory_bandwidth = 1000_GBps});
  CHECK(operation.memory_share == doctest::Approx(0.1));
}
