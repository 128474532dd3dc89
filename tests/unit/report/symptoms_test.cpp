// The symptoms of the field, each on a scenario or a timeline that has it.
#include "sim/report/measure/symptoms.hpp"

#include <algorithm>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

std::vector<Symptom> symptoms_in(const std::string& yaml) {
  const Experiment experiment(yaml);
  const Simulation run = experiment.run();
  return symptoms_of(run.timeline, measure(experiment.scenario, experiment.graph, run));
}

const Symptom* find(const std::vector<Symptom>& symptoms, const std::string& name) {
  const auto found = std::find_if(symptoms.begin(), symptoms.end(),
                                  [&](const Symptom& symptom) { return symptom.name == name; });
  return found == symptoms.end() ? nullptr : &*found;
}

bool suspects(const std::vector<Symptom>& symptoms, const std::string& name,
              const std::string& part) {
  const Symptom* symptom = find(symptoms, name);
  REQUIRE(symptom != nullptr);
  CAPTURE(symptom->suspect);
  return symptom->suspect.find(part) != std::string::npos;
}

constexpr const char* kSmall = R"(
model: {name: m, layers: 4, hidden: 1024, heads: 16, vocabulary: 8192}
cluster: {base: dgx-a100-80, nodes: 1}
training: {sequence_length: 512, global_batch: 64, micro_batch: 8}
)";

}  // namespace

TEST_CASE("a step that nothing holds up has no symptoms") { CHECK(symptoms_in(kSmall).empty()); }

TEST_CASE("idle before the first kernel: the input pipeline, or the copy to the GPU") {
  const auto slow =
      symptoms_in(std::string(kSmall) + "data: {sample_size: 1 MB, decode: 20 ms, workers: 2}\n");
  CHECK(suspects(slow, "late_start", "input pipeline"));
  const auto copies = symptoms_in(std::string(kSmall) +
                                  "data: {sample_size: 1 MB, device_bytes: 60 MB, decode: 0 s, "
                                  "workers: 2, pinned: false}\n");
  CHECK(suspects(copies, "late_start", "copy"));
}

TEST_CASE("idle with an idle CPU: data starvation") {
  const auto symptoms =
      symptoms_in(std::string(kSmall) + "data: {sample_size: 1 MB, decode: 20 ms, workers: 2}\n");
  CHECK(suspects(symptoms, "starvation", "data starvation"));
  CHECK(find(symptoms, "starvation")->evidence.find("of 2 loader workers are busy") !=
        std::string::npos);
}

TEST_CASE("a long tail after backward: the all-reduce") {
  const auto symptoms = symptoms_in(R"(
model: {name: m, layers: 4, hidden: 1024, heads: 16, vocabulary: 8192}
cluster:
  base: dgx-a100-80
  nodes: 4
  inter_node: {nics_per_node: 1, bandwidth: 25 Gbit/s, efficiency: 0.9, latency: 10 us}
training: {sequence_length: 512, global_batch: 256, micro_batch: 8}
)");
  CHECK(suspects(symptoms, "long_tail", "all-reduce"));
  CHECK(find(symptoms, "starvation") == nullptr);
}

TEST_CASE("a gap at every N-th batch with N workers: a shallow prefetch") {
  // A step takes one batch. Workers start together and take 10 times a step each: four batches come
  // at once, the GPU is done with them long before the next four.
  const auto symptoms = symptoms_in(std::string(kSmall) +
                                    "data: {sample_size: 1 MB, decode: 100 ms, workers: 4, "
                                    "prefetch: 1}\nrun: {steps: 16, warmup: 8}\n");
  CHECK(suspects(symptoms, "shallow_prefetch", "prefetch"));
  CHECK(suspects(symptoms, "spikes", "storage, or loaders"));
}

namespace {

/// Forward, a gap, backward; the host works in the gap or waits for the forward pass.
Timeline with_gap(bool host_works) {
  RankTimeline rank;
  rank.rows = {{"host", RowKind::host}, {"compute", RowKind::compute}};
  const auto span = [&](double start, double end, std::int32_t blocker, std::uint16_t row,
                        Cause cause) {
    rank.spans.push_back({.arrival = start,
                          .start = start,
                          .end = end,
                          .blocker = blocker,
                          .row = row,
                          .cause = cause,
                          .wait_cause = cause});
  };
  span(0, 4, kNoSpan, 1, Cause::forward);
  span(host_works ? 4 : 0, host_works ? 6 : 4, 0, 0, Cause::launch_gap);
  span(6, 10, 1, 1, Cause::backward);
  Timeline timeline;
  timeline.names = {"task"};
  timeline.ranks = {rank};
  timeline.step_ends = {10};
  return timeline;
}

}  // namespace

TEST_CASE("idle between forward and backward with an active CPU: a loss on the CPU") {
  const Metrics metrics{.steps = {Seconds{10}}};
  const auto symptoms = symptoms_of(with_gap(true), metrics);
  CHECK(suspects(symptoms, "loss_gap", "loss"));
  CHECK(find(symptoms, "loss_gap")->evidence == "2.00 s a step, 20.0 %");
  CHECK(find(symptoms_of(with_gap(false), metrics), "loss_gap") == nullptr);
}

TEST_CASE("pauses of other ranks that everybody waits for, and no all-reduce that is to blame") {
  const auto paused = symptoms_in(std::string(kSmall) +
                                  "host: {garbage_collection: {pause: 80 ms, every: 8, aligned: "
                                  "false}}\n");
  CHECK(suspects(paused, "others_pause", "host.garbage_collection.aligned"));
  CHECK(find(paused, "long_tail") == nullptr);
  const auto aligned =
      symptoms_in(std::string(kSmall) + "host: {garbage_collection: {pause: 80 ms, every: 8}}\n");
  CHECK(find(aligned, "others_pause") == nullptr);
}

TEST_CASE("a value that is read back for long is named") {
  const auto reads = symptoms_in(std::string(kSmall) + "host: {sync: {every: 1, time: 80 ms}}\n" +
                                 "run: {steps: 3}\n");
  CHECK(suspects(reads, "busy_host", "host.sync"));
}
