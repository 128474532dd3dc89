// A host that waits for transfers between stages before it launches the next pass.
//
// p stages of F forward and B backward, transfers that cost nothing, launches of l, which hide
// behind F and B where the host runs ahead. A pass that follows an exchange starts l late:
//   one micro-batch        passes p - 1 stages there and back: l + p (F + B) + 2 (p-1) l
//   m of them, p = 2       1F1B: the first stage exchanges before its backward pass, the last one
//                          before its forward pass. The last one does nothing else but for the
//                          first input and the last gradient: l + (m + 1) (F + B + l)
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double F = 3e-3, B = 7e-3, l = 50e-6;

Experiment pipeline(int p, int m, bool waits, const std::string& schedule = "1f1b",
                    int chunks = 1) {
  return {on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {0}, width: 1}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {1}, intra_node: {{bandwidth: 1 GB/s, latency: 0 us}}}}
training: {{global_batch: {2}, precision: fp16, gradient_clipping: false}}
parallelism: {{pipeline: {{stages: {1}, schedule: {3}, chunks: {4}, overlap_p2p: false, batch_p2p_sync: {5}}}}}
host: {{launch: 50 us}}
run: {{steps: 1, warmup: 0}}
)",
                               p * chunks, p, m, schedule, chunks, waits)),
          paper_graph(paper_layer(Seconds{F}, Seconds{B}), p * chunks)};
}

int waits_of(const Experiment& e, int rank) {
  const Program& program = e.plan.program(rank);
  return static_cast<int>(std::count_if(
      program.tasks.begin(), program.tasks.end(),
      [&](const Task& task) { return e.plan.names[task.name] == "wait for transfers"; }));
}

}  // namespace

TEST_CASE("a micro-batch is launched anew on each stage that waits for it, there and back") {
  for (const int p : {1, 2, 4}) {
    CAPTURE(p);
    CHECK(pipeline(p, 1, false).step_seconds() == nine_digits(l + p * (F + B)));
    CHECK(pipeline(p, 1, true).step_seconds() == nine_digits(l + p * (F + B) + 2 * (p - 1) * l));
  }
}

TEST_CASE("1F1B of two stages exposes one launch a micro-batch, and one at each end") {
  for (const int m : {1, 2, 5}) {
    CAPTURE(m);
    CHECK(pipeline(2, m, false).step_seconds() == nine_digits(l + (m + 1) * (F + B)));
    CHECK(pipeline(2, m, true).step_seconds() == nine_digits(l + (m + 1) * (F + B + l)));
  }
}

TEST_CASE("the host waits once an exchange, whatever is sent and received in it") {
  // Forward passes that a stage begins with are each exchanged alone.
  const Experiment e = pipeline(2, 5, true);
  CHECK(waits_of(e, 0) == 6);  // an activation more before the first gradient comes
  CHECK(waits_of(e, 1) == 6);  // the first activation alone, the last gradient alone
  CHECK(waits_of(pipeline(2, 5, false), 0) == 0);
  CHECK(waits_of(pipeline(1, 5, true), 0) == 0);
}

TEST_CASE("interleaved stages and zero-bubble ones, too, end with a host that waits") {
  for (const char* schedule : {"interleaved", "zb-h1", "gpipe"}) {
    CAPTURE(schedule);
    const int chunks = std::string(schedule) == "interleaved" ? 2 : 1;
    const double waiting = pipeline(4, 8, true, schedule, chunks).step_seconds();
    const double ahead = pipeline(4, 8, false, schedule, chunks).step_seconds();
    // Each pass of the slowest chain starts l late at most.
    CHECK(waiting > ahead);
    CHECK(waiting <= ahead + 3.0 * chunks * (8 + 4) * l);
  }
}
