// Who is blamed: the same slow loader, network or gather is found whatever the split and the number
// of steps.
#include <algorithm>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

/// 1 s of decoding per sample in two workers is far more than this model computes: 1/2 s a sample
/// at best.
std::string slow_loader(int tensor, int stages) {
  return fmt::format(R"(
model: {{name: m, layers: 8, hidden: 1024, heads: 16, vocabulary: 8192}}
cluster: {{base: dgx-a100-80, nodes: 1}}
training: {{sequence_length: 512, global_batch: 64, micro_batch: 1}}
parallelism: {{tensor: {}, pipeline: {{stages: {}}}}}
data: {{sample_size: 1 MB, decode: 1 s, workers: 2}}
)",
                     tensor, stages);
}

constexpr const char* kZero = R"(
model: {{name: m, layers: 8, hidden: 1024, heads: 16, vocabulary: 8192}}
cluster: {{base: dgx-a100-80, nodes: 2}}
training: {{sequence_length: 512, global_batch: 64, micro_batch: {}, precision: bf16}}
parallelism: {{data: {{sharding: {}, overlap: {}}}}}
run: {{steps: {}, warmup: 1}}
)";

double of(const Metrics& m, Cause cause) { return m.breakdown[static_cast<std::size_t>(cause)]; }

double data_bytes(const Metrics& m) {
  for (const GroupCommunication& group : m.communication) {
    if (group.axis == Axis::data) return group.bytes.bytes();
  }
  return 0;
}

}  // namespace

TEST_CASE("a slow loader is seen behind tensor and pipeline ranks too") {
  for (const std::pair<int, int>& split : {std::pair{1, 1}, {2, 1}, {1, 4}, {2, 4}}) {
    const int tensor = split.first, stages = split.second;
    const Experiment experiment(slow_loader(tensor, stages));
    const Metrics metrics = experiment.metrics();
    // Each replica's batches of one sample come at 2 a second.
    const double batches = 64.0 * tensor * stages / 8;
    CAPTURE(tensor);
    CAPTURE(stages);
    CHECK(metrics.step_time.seconds() == doctest::Approx(batches / 2).epsilon(0.02));
    CHECK(metrics.data_stall_fraction > 0.5);
  }
}

TEST_CASE("the breakdown does not depend on how many steps are measured") {
  const Metrics one = Experiment(fmt::format(kZero, 4, "zero1", "true", 1)).metrics();
  const Metrics four = Experiment(fmt::format(kZero, 4, "zero1", "true", 4)).metrics();
  for (std::size_t cause = 0; cause < kCauses; ++cause) {
    CAPTURE(cause);
    CHECK(four.breakdown[cause] == doctest::Approx(one.breakdown[cause]).epsilon(1e-6));
  }
  CHECK(of(one, exposed(Axis::data)) > 0);
}

TEST_CASE("overlap is a share of compute and of communication") {
  for (const char* sharding : {"ddp", "zero1", "zero2", "zero3"}) {
    const Metrics m = Experiment(fmt::format(kZero, 1, sharding, "true", 2)).metrics();
    CAPTURE(sharding);
    CHECK(m.overlap_efficiency >= 0);
    CHECK(m.overlap_efficiency <= 1);
    for (const GroupCommunication& group : m.communication) CHECK(group.hidden <= group.busy);
  }
}

TEST_CASE("ZeRO 2 reduces its gradients after every micro-batch, with and without overlap") {
  // m reductions of the gradients and one gather of the parameters, both in bf16: (m + 1) times the
  // parameters.
  const double one =
      data_bytes(Experiment(fmt::format(kZero, 4, "zero1", "true", 1)).metrics()) / 2;
  const double overlapped =
      data_bytes(Experiment(fmt::format(kZero, 1, "zero2", "true", 1)).metrics());
  const double plain = data_bytes(Experiment(fmt::format(kZero, 1, "zero2", "false", 1)).metrics());
  CHECK(overlapped / one == doctest::Approx(5).epsilon(1e-6));
  CHECK(plain / one == doctest::Approx(5).epsilon(1e-6));
}

TEST_CASE("gradients are reduced after the last backward pass of every order") {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    const Experiment experiment(fmt::format(R"(
model: {{name: m, layers: 4, hidden: 512, heads: 8, vocabulary: 4096}}
cluster: {{base: dgx-a100-80, nodes: 1}}
training: {{sequence_length: 128, global_batch: 32, micro_batch: 1}}
parallelism: {{pipeline: {{stages: 2, schedule: {}}}}}
)",
                                            schedule));
    for (const Program& program : experiment.plan.programs) {
      TaskIndex last_backward = 0;
      TaskIndex first_reduction = static_cast<TaskIndex>(program.tasks.size());
      for (TaskIndex i = 0; i < program.tasks.size() && program.tasks[i].step == 0; ++i) {
        const Task& task = program.tasks[i];
        if (task.kind == TaskKind::chain && task.cause == Cause::backward && task.micro_batch < 7)
          last_backward = i;
        if (task.kind == TaskKind::communicate && task.channel == Channel::data)
          first_reduction = std::min(first_reduction, i);
      }
      CHECK(first_reduction > last_backward);
    }
  }
}
