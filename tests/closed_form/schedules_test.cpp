// Schedules with a split backward, V shapes and two directions: valid orders, bubbles and
// activations in flight. Stages are equal, transfers free, and steps follow each other freely.
//
// A stage works m (F + I + W) a step, I and W being the two halves of the backward pass. It idles
//   ZB-H1     (p-1)(F + I - W)   Qi et al. 2023, section 2.1: W fills what 1F1B waits for B = I + W
//   ZB-H2     (p-1)(F + I - 2W)  section 2.2, where that is not negative
//   ZB-V      0                  section 6, with F = I = W of a chunk
//   DualPipe  (p/2-1)(F&B + B - 3W), F&B = F + B, with F = I = W (deepseek-ai/DualPipe README);
//             its order with other times idles less, which is not in the formula: pinned below
//   PyTorch's interleaved order: as Megatron's, (p-1)(F+B)/v; with m < p micro-batches a round is
//             too short to go around the stages and (v-1)(p-m)(F+B)/v come on top.
// ZB-H2 and ZB-V start and end a step in a slant. Where something makes all stages wait for each
// other between steps (the gradient norm), the slant idles too: (p-1) F for ZB-H2 with F = I = W,
// (p-1) F of a chunk for ZB-V.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/memory/memory.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

/// Milliseconds of one layer's passes.
struct Times {
  double forward, input_gradient, weight_gradient;
  double backward() const { return input_gradient + weight_gradient; }
  double all() const { return forward + backward(); }
};
constexpr Times kEqual{2, 2, 2};
constexpr Times kUneven{3, 4, 2};

struct Case {
  std::string schedule;
  int p, m, v;
};

Block layer_of(Times times, double elements = 0) {
  Block layer = paper_layer(times.forward * 1_ms, times.input_gradient * 1_ms);
  Launch weights = lasting(times.weight_gradient * 1_ms);
  weights.for_weights = true;
  Op& op = layer.dag[0];
  op.backward.emplace_back(weights);
  if (elements > 0) {
    op.parameters = {elements};
    op.backward.emplace_back(GradientReady{elements});
  }
  return layer;
}

int parts_of(const Case& c) {
  return c.p * c.v / Registry<Schedule>::find(c.schedule)->needs.copies;
}

Experiment pipeline(const Case& c, Block layer, bool overlap_p2p, const std::string& training = "",
                    int data = 1) {
  return {on_paper(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {0}, width: 1}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: {1}, intra_node: {{bandwidth: 1000000000 GB/s, latency: 0 us}}}}
training: {{global_batch: {2}, precision: fp16{3}}}
parallelism: {{pipeline: {{stages: {4}, schedule: {5}, chunks: {6}, overlap_p2p: {7}}}}}
host: {{launch: 0 us}}
run: {{steps: 2, warmup: 2}}
)",
                               c.p * c.v, c.p * data, c.m * data,
                               training.empty() ? ", gradient_clipping: false" : training, c.p,
                               c.schedule, c.v, overlap_p2p)),
          paper_graph(std::move(layer), parts_of(c))};
}

/// Milliseconds of a step beyond the work of one stage.
double bubble(const Case& c, Times times, const std::string& training = "") {
  const Experiment experiment = pipeline(c, layer_of(times), true, training);
  const auto ends = experiment.run().timeline.step_ends;
  const double step = (ends.back() - ends[ends.size() - 2]) * 1e3;
  return step - c.m * times.all() * parts_of(c) / c.p;
}

doctest::Approx about(double milliseconds) {
  return doctest::Approx(milliseconds).epsilon(1e-9).scale(1);
}

std::vector<Action> order_of(const Case& c, int stage) {
  return Registry<Schedule>::find(c.schedule)->order({c.p, c.m, c.v}, stage);
}

/// Every shape that a schedule takes, up to eight stages.
std::vector<Case> grid() {
  std::vector<Case> cases;
  for (const Schedule* schedule : Registry<Schedule>::all()) {
    const ScheduleNeeds& needs = schedule->needs;
    for (const int p : {1, 2, 3, 4, 6, 8}) {
      if (needs.least_chunks > 1 && p == 1) continue;
      for (int v = needs.least_chunks; v <= std::min(needs.most_chunks, 3); ++v) {
        for (const int m : {1, 2, 3, p, p + 1, 2 * p - 1, 2 * p, 3 * p, 4 * p + 2}) {
          if (needs.objection != nullptr && !needs.objection(p, m).empty()) continue;
          cases.push_back({std::string(schedule->name), p, m, v});
        }
      }
    }
  }
  return cases;
}

/// Checks the order of one stage; counts forward passes by part and micro-batch.
void check_order(const Case& c, int stage, std::map<std::pair<int, int>, int>& forwards) {
  const Schedule& schedule = *Registry<Schedule>::find(c.schedule);
  const Placement placement(schedule, {c.p, c.m, c.v});
  std::map<std::tuple<PassKind, int, int>, int> seen;
  for (const Action& a : order_of(c, stage)) {
    const auto count = [&](PassKind kind) { return seen[{kind, a.micro_batch, a.chunk}]; };
    CHECK(a.micro_batch >= 0);
    CHECK(a.micro_batch < c.m);
    CHECK(count(a.pass) == 0);
    if (a.pass == PassKind::forward) ++forwards[{placement.part({stage, a.chunk}), a.micro_batch}];
    if (a.pass == PassKind::backward || a.pass == PassKind::input_gradient) {
      CHECK(count(PassKind::forward) == 1);
      CHECK(count(PassKind::backward) + count(PassKind::input_gradient) == 0);
    }
    if (a.pass == PassKind::weight_gradient) CHECK(count(PassKind::input_gradient) == 1);
    ++seen[{a.pass, a.micro_batch, a.chunk}];
  }
  int done = 0, completed = 0;
  for (const auto& [key, n] : seen) {
    if (std::get<0>(key) == PassKind::forward) done += n;
    if (completes_gradients(std::get<0>(key))) completed += n;
  }
  CHECK(done == completed);
}

}  // namespace

TEST_CASE("every order runs each micro-batch once through each part, forward and backward") {
  for (const Case& c : grid()) {
    CAPTURE(c.schedule);
    CAPTURE(c.p);
    CAPTURE(c.m);
    CAPTURE(c.v);
    std::map<std::pair<int, int>, int> forwards;
    for (int stage = 0; stage < c.p; ++stage) check_order(c, stage, forwards);
    CHECK(static_cast<int>(forwards.size()) == parts_of(c) * c.m);
    for (const auto& [part, times] : forwards) CHECK(times == 1);
  }
}

TEST_CASE("no order locks, whether transfers run beside compute or not") {
  for (const Case& c : grid()) {
    for (const bool overlap : {true, false}) {
      if (!overlap && Registry<Schedule>::find(c.schedule)->needs.overlaps) continue;
      CAPTURE(c.schedule);
      CAPTURE(c.p);
      CAPTURE(c.m);
      CAPTURE(c.v);
      CAPTURE(overlap);
      const Experiment experiment = pipeline(c, layer_of(kUneven), overlap);
      CHECK_NOTHROW(experiment.run());
    }
  }
}

TEST_CASE("ZB-H1 idles (p-1)(F + I - W)") {
  for (const int p : {2, 3, 4, 8}) {
    for (const int m : {p, p + 1, 2 * p, 5 * p}) {
      CAPTURE(p);
      CAPTURE(m);
      CHECK(bubble({"zb-h1", p, m, 1}, kEqual) == about((p - 1) * 2.0));
      CHECK(bubble({"zb-h1", p, m, 1}, kUneven) == about((p - 1) * 5.0));
    }
  }
}

TEST_CASE("ZB-H2 idles (p-1)(F + I - 2W), and (p-1) F more where steps wait for each other") {
  for (const int p : {2, 3, 4, 8}) {
    for (const int m : {2 * p - 1, 2 * p, 5 * p}) {
      CAPTURE(p);
      CAPTURE(m);
      CHECK(bubble({"zb-h2", p, m, 1}, kEqual) == about(0));
      CHECK(bubble({"zb-h2", p, m, 1}, kUneven) == about((p - 1) * 3.0));
      CHECK(bubble({"zb-h2", p, m, 1}, kEqual, ", gradient_clipping: true") ==
            about((p - 1) * 2.0));
    }
  }
}

TEST_CASE("ZB-V does not idle when F = I = W, but for (p-1) F where steps wait for each other") {
  for (const int p : {2, 3, 4, 8}) {
    for (const int m : {2 * p - 1, 2 * p, 5 * p}) {
      CAPTURE(p);
      CAPTURE(m);
      CHECK(bubble({"zb-v", p, m, 2}, kEqual) == about(0));
      CHECK(bubble({"zb-v", p, m, 2}, kEqual, ", gradient_clipping: true") == about((p - 1) * 2.0));
    }
  }
}

TEST_CASE("DualPipe idles (p/2-1)(F&B + B - 3W) when F = I = W") {
  for (const int p : {2, 4, 6, 8}) {
    for (const int m : {2 * p, 2 * p + 2, 4 * p}) {
      CAPTURE(p);
      CAPTURE(m);
      const double formula = kEqual.all() + kEqual.backward() - 3 * kEqual.weight_gradient;
      const int pairs = p / 2;
      CHECK(bubble({"dualpipe", p, m, 2}, kEqual) == about((pairs - 1) * formula));
    }
  }
}

TEST_CASE("DualPipe idles less than its formula when input gradients take longer than forwards") {
  const double formula = kUneven.all() + kUneven.backward() - 3 * kUneven.weight_gradient;
  CHECK(formula == 9);
  CHECK(bubble({"dualpipe", 4, 8, 2}, kUneven) == about(8));
  CHECK(bubble({"dualpipe", 8, 16, 2}, kUneven) == about(24));
}

TEST_CASE("PyTorch's interleaved order idles (p-1)(F+B)/v, and more below p micro-batches") {
  for (const int p : {2, 3, 4, 8}) {
    for (const int v : {2, 3}) {
      for (int m = 1; m <= 3 * p; ++m) {
        if (m % std::max(1, m / p) != 0) continue;
        CAPTURE(p);
        CAPTURE(v);
        CAPTURE(m);
        const int passes = p - 1 + (v - 1) * std::max(p - m, 0);
        CHECK(bubble({"interleaved-pytorch", p, m, v}, kUneven) == about(passes * kUneven.all()));
      }
    }
  }
}

TEST_CASE("PyTorch's interleaved order is Megatron's where the micro-batches are p times any") {
  for (const Case& c : {Case{"", 2, 4, 2}, Case{"", 4, 4, 3}, Case{"", 4, 12, 2}}) {
    for (int stage = 0; stage < c.p; ++stage) {
      CHECK(order_of({"interleaved-pytorch", c.p, c.m, c.v}, stage) ==
            order_of({"interleaved", c.p, c.m, c.v}, stage));
    }
  }
}

TEST_CASE("ZB-H1 holds min(p, m) passes until their weight gradients, ZB-H2 min(2p-1, m)") {
  for (int p = 1; p <= 8; ++p) {
    for (int m = 1; m <= 4 * p; ++m) {
      for (int r = 0; r < p; ++r) {
        CAPTURE(p);
        CAPTURE(m);
        CAPTURE(r);
        CHECK(peak_in_flight(order_of({"zb-h1", p, m, 1}, r)) == std::min(p, m));
        CHECK(peak_in_flight(order_of({"zb-h2", p, m, 1}, r)) == std::min(2 * p - 1, m));
      }
    }
  }
}

TEST_CASE("ZB-V holds p micro-batches of two chunks, DualPipe p + 1 of one") {
  for (const int p : {2, 4, 6, 8}) {
    for (const int m : {2 * p, 2 * p + 2, 5 * p}) {
      for (int r = 0; r < p; ++r) {
        CHECK(peak_in_flight(order_of({"zb-v", p, m, 2}, r)) == 2 * p);
        CHECK(peak_in_flight(order_of({"dualpipe", p, m, 2}, r)) == p + 1);
      }
    }
  }
}

TEST_CASE("V-Half holds p chunks, V-Min two thirds of p, of 1F1B's 2p, and at most four more") {
  for (const int p : {2, 3, 4, 5, 6, 7, 8, 16, 32}) {
    int half = 0;
    int least = 0;
    for (int r = 0; r < p; ++r) {
      half = std::max(half, peak_in_flight(order_of({"v-half", p, 6 * p, 2}, r)));
      least = std::max(least, peak_in_flight(order_of({"v-min", p, 6 * p, 2}, r)));
    }
    CAPTURE(p);
    CHECK(half >= p);
    CHECK(half <= p + 4);
    CHECK(3 * least >= 2 * p);
    CHECK(3 * least <= 2 * p + 12);
  }
}

TEST_CASE("V-Half and V-Min repeat their block without idling when F = I = W") {
  for (const char* schedule : {"v-half", "v-min"}) {
    for (const int p : {2, 3, 4, 8}) {
      CAPTURE(schedule);
      CAPTURE(p);
      CHECK(bubble({schedule, p, 4 * p, 2}, kEqual) ==
            about(bubble({schedule, p, 8 * p, 2}, kEqual)));
    }
  }
}

TEST_CASE("what weight gradients need stays in memory until they are computed") {
  constexpr int p = 4;
  Block layer = layer_of(kEqual);
  layer.dag[0].saved = Bytes{1e9};
  layer.dag[0].kept_for_weights = Bytes{0.5e9};
  const Case c{"zb-h1", p, 12, 1};
  const Experiment experiment = pipeline(c, layer, true);
  const Simulation simulation = experiment.run();
  const auto by_stage = memory_by_stage(experiment.scenario, experiment.graph);
  REQUIRE(simulation.timeline.ranks.size() == p);
  for (const RankTimeline& rank : simulation.timeline.ranks) {
    CAPTURE(rank.stage);
    double most = 0;
    for (const MemoryPoint& point : rank.memory) most = std::max(most, point.bytes);
    // p - r passes that have their backward before them, r that wait for their second half.
    const double expected = (p - rank.stage) * 1e9 + rank.stage * 0.5e9;
    CHECK(most - rank.memory.front().bytes == nine_digits(expected));
    CHECK(rank.memory.back().bytes == doctest::Approx(rank.memory.front().bytes));
    const StageMemory& stage = by_stage[static_cast<std::size_t>(rank.stage)];
    CHECK(stage.peak.held.activations.bytes() == nine_digits(expected));
  }
}

TEST_CASE("the last stage of a V hands its result to itself, the first has input and loss") {
  const Schedule& zb_v = *Registry<Schedule>::find("zb-v");
  const Placement placement(zb_v, {4, 8, 2});
  CHECK(placement.parts() == 8);
  CHECK(placement.part({1, 0}) == 1);
  CHECK(placement.part({1, 1}) == 6);
  CHECK(placement.next({3, 0}) == StagePlace{3, 1});
  CHECK(placement.next({3, 1}) == StagePlace{2, 1});
  CHECK_FALSE(placement.next({0, 1}));
  CHECK(placement.needs_batch({0, 0}));
  CHECK_FALSE(placement.needs_batch({0, 1}));  // the labels of the last part came with the input
  CHECK_FALSE(placement.needs_batch({3, 1}));
}

TEST_CASE("DualPipe's outer stages take the input of one direction and the labels of the other") {
  const Schedule& dualpipe = *Registry<Schedule>::find("dualpipe");
  const Placement placement(dualpipe, {4, 8, 2});
  CHECK(placement.parts() == 4);
  CHECK(placement.next({3, 1}) == StagePlace{2, 1});
  CHECK(placement.previous({3, 0}) == StagePlace{2, 0});
  CHECK(placement.holders(1) == std::vector<int>{1, 2});
  for (const StagePlace place :
       {StagePlace{0, 0}, StagePlace{0, 1}, StagePlace{3, 0}, StagePlace{3, 1}})
    CHECK(placement.needs_batch(place));
  CHECK_FALSE(placement.needs_batch({1, 0}));
}

TEST_CASE("DualPipe reduces gradients over both holders of a part, also without data parallel") {
  for (const int data : {1, 2}) {
    CAPTURE(data);
    const Experiment experiment =
        pipeline({"dualpipe", 4, 8, 2}, layer_of(kEqual, 1e6), true, "", data);
    const Plan& plan = experiment.plan;
    for (int rank = 0; rank < 4 * data; ++rank) {
      const int group =
          plan.group_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(Channel::data)];
      REQUIRE(group >= 0);
      CHECK(plan.groups[static_cast<std::size_t>(group)].shape.ranks == 2 * data);
    }
    // Two parts of 1e6 gradients in fp16.
    double bytes = 0;
    for (const Operation* operation : data_operations(plan)) bytes += operation->bytes.bytes();
    CHECK(bytes == nine_digits(4e6));
    CHECK_NOTHROW(experiment.run());
  }
}
