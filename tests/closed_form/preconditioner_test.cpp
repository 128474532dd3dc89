// SOAP and Shampoo: products, state, what is held beside it, owners and what is exchanged.
//
// A matrix of m x n takes 2 m^2 n FLOP for the statistics of its rows, 2 m n^2 for those of its
// columns, and as much for each tensor that both sides turn: four of SOAP, one of Shampoo. So SOAP
// takes 10 m n (m + n) in each step, Shampoo 4 m n (m + n). New bases of a side d take two products
// of 2 d^3 and QR, 8/3 d^3; a new root a product and 9 d^3.
//
// The model below has L layers of width h with four matrices: 3h x h, h x h, 4h x h, h x 4h, so
// 12 h^2 elements.
#include <fmt/format.h>

#include "sim/plan/matrix_owners.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "sim/plan/program/preconditioning.hpp"
#include "sim/scenario/read/assumed_keys.hpp"
#include "tests/closed_form/matrix_updates.hpp"

using namespace stepsim;

namespace {

double flops_of(const std::vector<NamedWork>& works) {
  double sum = 0;
  for (const NamedWork& each : works) {
    if (const auto* gemm = std::get_if<Gemm>(&each.work)) sum += gemm->flops().flops();
  }
  return sum;
}

double flops_of(const std::vector<Work>& works) {
  double sum = 0;
  for (const Work& work : works) {
    if (const auto* gemm = std::get_if<Gemm>(&work)) sum += gemm->flops().flops();
  }
  return sum;
}

struct Counts {
  int kernels = 0;
  double seconds = 0;
};
/// Kernels of that name in rank 0's step.
Counts kernels_named(const Plan& plan, const std::string& name) {
  Counts counts;
  for (const Task& task : plan.program(0).tasks) {
    if (task.kind != TaskKind::chain) continue;
    for (const Kernel& kernel : plan.chains[task.work].kernels) {
      if (plan.names[kernel.name] != name) continue;
      ++counts.kernels;
      counts.seconds += kernel.seconds;
    }
  }
  return counts;
}

/// Bytes of rank 0's collectives of that name, on any channel.
double bytes_named(const Plan& plan, const std::string& name) {
  double sum = 0;
  for (const Task& task : plan.program(0).tasks) {
    if (task.kind != TaskKind::communicate) continue;
    const Operation& operation = plan.operations[task.work];
    if (plan.names[operation.name] == name) sum += operation.bytes.bytes();
  }
  return sum;
}

constexpr MatrixUpdate kTurns = MatrixUpdate::eigenbases, kRoots = MatrixUpdate::roots;

}  // namespace

TEST_CASE(
    "SOAP multiplies 10 m n (m + n) FLOP a step, of one side with a preconditioner its half") {
  const double m = 512, n = 2048;
  const Preconditioner keys;
  const auto both = preconditioning_of({.rows = 512, .columns = 2048}, keys, kTurns);
  CHECK(flops_of(both.before) + flops_of(both.after) == nine_digits(10 * m * n * (m + n)));
  CHECK(flops_of(both.renewal) == nine_digits(4 * (m * m * m + n * n * n)));
  CHECK(both.decomposed.flops() == nine_digits(8.0 / 3 * (m * m * m + n * n * n)));
  const auto rows =
      preconditioning_of({.rows = 512, .columns = 2048, .right = false}, keys, kTurns);
  CHECK(flops_of(rows.before) + flops_of(rows.after) == nine_digits(10 * m * m * n));
  CHECK(rows.decomposed.flops() == nine_digits(8.0 / 3 * m * m * m));
  // Each side's statistics weigh the gradient by the other's inverse: 2 d^3 for that, and 2 m n d.
  const auto weighed =
      preconditioning_of({.rows = 512, .columns = 2048}, {.kl_statistics = true}, kTurns);
  CHECK(flops_of(weighed.before) - flops_of(both.before) ==
        nine_digits(2 * (m * m * m + n * n * n) + 2 * m * n * (m + n)));
}

TEST_CASE("Shampoo multiplies 4 m n (m + n) FLOP a step, block by block") {
  const double m = 512, n = 1024;
  const auto block = preconditioning_of({.rows = 512, .columns = 1024}, {}, kRoots);
  CHECK(flops_of(block.before) + flops_of(block.after) == nine_digits(4 * m * n * (m + n)));
  CHECK(flops_of(block.renewal) == nine_digits(2 * (m * m * m + n * n * n)));
  CHECK(block.decomposed.flops() == nine_digits(9 * (m * m * m + n * n * n)));
  const WeightMatrix wide{.rows = 1024, .columns = 2500};
  const auto blocks = preconditioned_blocks(wide, {.largest_side = 1024}, kRoots);
  REQUIRE(blocks.size() == 3);
  CHECK(blocks[2] == PreconditionedBlock{.rows = 1024, .columns = 452});
  CHECK(statistics_of(wide, {.largest_side = 1024}, kRoots) ==
        nine_digits(2 * (5 * 1024.0 * 1024 + 452.0 * 452)));
}

TEST_CASE("sides that are too long have no preconditioner in SOAP") {
  const WeightMatrix up{.rows = 1024, .columns = 256};
  CHECK(statistics_of(up, {.largest_side = 1024}, kTurns) == 2 * (1024.0 * 1024 + kSquare));
  CHECK(statistics_of(up, {.largest_side = 1000}, kTurns) == 2 * kSquare);
  CHECK(statistics_of(up, {.largest_side = 0}, kTurns) == 2 * (1024.0 * 1024 + kSquare));
  // A matrix that has none takes Adam's step as it is.
  const auto blocks = preconditioned_blocks(up, {.largest_side = 100}, kTurns);
  const auto none = preconditioning_of(blocks.front(), {}, kTurns);
  CHECK(none.before.empty());
  CHECK(none.after.empty());
  CHECK(none.renewal.empty());
}

// Sides of a layer's matrices: 3h and h, h and h, 4h and h, h and 4h. Their squares are 10, 2, 17
// and 17 h^2, twice, for statistics and for bases or roots, in 4 B.
TEST_CASE("matrices have moments and two square tensors a side, all others what Adam has") {
  const double squares = kLayers * 2 * (10 + 2 + 17 + 17) * kSquare;
  const Scenario soap = gpt(", optimizer: soap", "", 1);
  const double others = parameters(soap) - kMatrices;
  CHECK(optimizer_state(soap) == nine_digits(12 * kMatrices + 4 * squares + 12 * others));
  const Scenario shampoo = gpt(", optimizer: shampoo", "", 1);
  CHECK(optimizer_state(shampoo) == nine_digits(8 * kMatrices + 4 * squares + 12 * others));
  CHECK(optimizer_state(gpt(", optimizer: shampoo, preconditioner: {grafting: true}", "", 1)) ==
        nine_digits(12 * kMatrices + 4 * squares + 12 * others));
  // In blocks of h x h each element has four numbers: 2 (h^2 + h^2) a block.
  CHECK(optimizer_state(gpt(", optimizer: shampoo, preconditioner: {largest_side: 256}", "", 1)) ==
        nine_digits(8 * kMatrices + 4 * 4 * kMatrices + 12 * others));
  // Of two ranks each has two of the largest matrices of each layer, or what is as large.
  const Scenario shared = gpt(", optimizer: shampoo, preconditioner: {largest_side: 256}", "", 2);
  CHECK(optimizer_state(shared) ==
        nine_digits(4 * kMatrices + (4 + 16) * kMatrices / 2 + 12 * others));
}

TEST_CASE("what a renewal takes is shared out over the steps until the next") {
  const auto seconds = [](const std::string& keys) {
    const Experiment step(
        gpt(fmt::format(", optimizer: soap, preconditioner: {{{}}}", keys), "", 1));
    const Counts renewals = kernels_named(step.plan, "renew preconditioners");
    CHECK(renewals.kernels == static_cast<int>(kLayers) * 4);
    return renewals.seconds;
  };
  const double each = seconds("every: 1");
  CHECK(seconds("every: 20") == nine_digits(each / 20));
  // A hundredth of the rate: 99 times as much again for sides 3h h, h h, 4h h, h 4h.
  const double decomposed = kLayers * 8.0 / 3 * (28 + 2 + 65 + 65) * kHidden * kSquare;
  CHECK(seconds("every: 1, decomposition_rate: 14 GFLOP/s") - each ==
        nine_digits(99 * decomposed / 1.4e12));
}

TEST_CASE("greedy owners gather updates in fp32, and those of all ranks exchange none") {
  const std::string late = "data: {overlap: false}";
  const Experiment all(gpt(", optimizer: soap", late, 2));
  CHECK(bytes_named(all.plan, "all_gather") == 0);
  CHECK(kernels_named(all.plan, "turn gradient").kernels == static_cast<int>(kLayers) * 4 * 2);
  const Experiment greedy(gpt(", optimizer: shampoo", late, 2));
  CHECK(bytes_named(greedy.plan, "all_reduce") == nine_digits(4 * parameters(greedy.scenario)));
  CHECK(bytes_named(greedy.plan, "all_gather") == nine_digits(4 * kMatrices));
  // Five ranks share 8 matrices of 4 h^2, 4 of 3 h^2 and 4 of h^2, the largest first: three have 8
  // h^2 of them, two 10 h^2, and the last two of h^2 fill those three up to 10 h^2 at most.
  const Experiment uneven(gpt(", optimizer: shampoo", late, 5));
  CHECK(bytes_named(uneven.plan, "all_gather") == nine_digits(4 * 5 * 10 * kSquare));
  // Owners of a sharded optimizer: as Muon's.
  const Experiment owned(gpt(", optimizer: soap", "data: {sharding: zero1, overlap: false}", 2));
  CHECK(kernels_named(owned.plan, "turn gradient").kernels == static_cast<int>(kLayers) * 4);
  CHECK(bytes_named(owned.plan, "all_gather") == nine_digits(2 * parameters(owned.scenario)));
}

TEST_CASE("an update holds three tensors of the matrix, or one and three preconditioners") {
  const WeightMatrix up{.rows = 1024, .columns = 256}, square{.rows = 256, .columns = 256};
  CHECK(preconditioning_bytes(up, {}, kTurns).bytes() == 4 * (4 + 3 * 16) * kSquare);
  CHECK(preconditioning_bytes(up, {.largest_side = 256}, kTurns).bytes() == 4 * 12 * kSquare);
  CHECK(preconditioning_bytes(square, {}, kRoots).bytes() == 4 * 4 * kSquare);
}

TEST_CASE("the period and the rate of decompositions are assumed where nobody states them") {
  const auto assumed = [](const std::string& training, const std::set<std::string>& stated) {
    std::string keys;
    for (const AssumedKey& key : assumed_keys(gpt(training, "", 1), stated)) {
      if (key.key.starts_with("training.preconditioner")) keys += key.key + " " + key.value + "\n";
    }
    return keys;
  };
  CHECK(assumed("", {}).empty());
  CHECK(assumed(", optimizer: soap", {}) ==
        "training.preconditioner presets of its authors\n"
        "training.preconditioner.decomposition_rate 1.4 TFLOP/s, QR on A100\n");
}
