// The plan: rows, edges and epochs of a program, groups of ranks, and layers dealt out to stages.
#include "sim/plan/plan.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/plan/group/groups.hpp"
#include "sim/plan/program/program_writer.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/plan/what_if.hpp"
#include "sim/scenario/rank_order.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

std::vector<TaskIndex> successors(const Program& program, TaskIndex task) {
  const auto begin = program.successors.begin();
  return {begin + program.tasks[task].first_successor, begin + program.end_of_successors(task)};
}

std::string gpt(int nodes, const std::string& parallelism, int batch = 16) {
  return fmt::format(R"(
model: {{name: m, layers: 8, hidden: 256, heads: 8, vocabulary: 4096}}
cluster:
  name: c
  gpu: a100-80
  nodes: {}
  gpus_per_node: 8
  intra_node: nvlink3
  inter_node: {{bandwidth: 200 Gbit/s, latency: 5 us}}
training: {{sequence_length: 128, global_batch: {}, precision: bf16}}
parallelism: {{{}}}
run: {{steps: 1, warmup: 0}}
)",
                     nodes, batch, parallelism);
}

const Group& group_of(const Plan& plan, int rank, Channel channel) {
  const int group =
      plan.group_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(channel)];
  REQUIRE(group >= 0);
  return plan.groups[static_cast<std::size_t>(group)];
}

using Ranks = std::vector<int>;

long tasks_on(const Program& program, const std::string& row) {
  return std::count_if(program.tasks.begin(), program.tasks.end(),
                       [&](const Task& task) { return program.rows[task.row].name == row; });
}

}  // namespace

/// ResNet-50 has 53 batch norms, of 26,560 channels together.
std::string resnet(int gpus, const std::string& data) {
  return fmt::format(R"(
model: resnet50
cluster: {{base: dgx-1v, gpus_per_node: {0}}}
training: {{global_batch: {1}, micro_batch: 8, precision: fp32, optimizer: momentum}}
parallelism: {{data: {{{2}}}}}
run: {{steps: 1, warmup: 0}}
)",
                     gpus, 16 * gpus, data);
}

std::vector<double> broadcasts(const Plan& plan) {
  std::vector<double> bytes;
  for (const Operation& operation : plan.operations)
    if (plan.names[operation.name] == "broadcast") bytes.push_back(operation.bytes.bytes());
  return bytes;
}

long kernels_called(const Plan& plan, const std::string& name) {
  long count = 0;
  for (const Chain& chain : plan.chains)
    for (const Kernel& kernel : chain.kernels) count += plan.names[kernel.name] == name;
  return count;
}

TEST_CASE("DDP joins running statistics, broadcasts them and copies each back, once a step") {
  const Experiment eight(resnet(8, "broadcast_buffers: true"));
  CHECK(broadcasts(eight.plan) == std::vector<double>{26'560 * 8, 53 * 8});
  CHECK(kernels_called(eight.plan, "copy statistics") == 3 * 53);
  CHECK(kernels_called(eight.plan, "join statistics") == 1);

  const Experiment alone(resnet(1, "broadcast_buffers: true"));
  CHECK(broadcasts(alone.plan).empty());
  CHECK(kernels_called(alone.plan, "copy statistics") == 3 * 53);

  const Experiment without(resnet(8, ""));
  CHECK(broadcasts(without.plan).empty());
  CHECK(kernels_called(without.plan, "copy statistics") == 0);
}

TEST_CASE("a task waits for the one before it on its row and for what it is told to") {
  ProgramWriter writer(0, 5_us);
  const auto one = writer.add_row("one", RowKind::compute);
  const auto two = writer.add_row("two", RowKind::copy);
  const TaskIndex a = writer.add({.row = one});
  const TaskIndex b = writer.add({.row = two});
  const TaskIndex c = writer.add({.row = one}, {a, b, ProgramWriter::kNoTask});
  CHECK(writer.last_on(one) == c);
  const Program program = writer.finish();
  CHECK(program.tasks[a].needs == 0);
  CHECK(program.tasks[c].needs == 2);  // the edge from a counts once
  CHECK(successors(program, a) == std::vector<TaskIndex>{c});
  CHECK(successors(program, b) == std::vector<TaskIndex>{c});
  CHECK(successors(program, c).empty());
}

TEST_CASE("launches add up from the start of an epoch, and a host wait starts a new one") {
  ProgramWriter writer(0, 5_us);
  const auto host = writer.add_row("host", RowKind::host);
  const auto gpu = writer.add_row("compute", RowKind::compute);
  const TaskIndex a = writer.launch({.row = gpu}, {}, 5e-6);
  const TaskIndex b = writer.launch({.row = gpu}, {}, 0, 20e-6);  // a chain passes 20 us itself
  const TaskIndex wait = writer.wait_on_host({.row = host}, {b});
  const TaskIndex c = writer.launch({.row = gpu}, {}, 5e-6);
  const Program program = writer.finish();
  CHECK(program.tasks[a].launch_offset == nine_digits(5e-6));
  CHECK(program.tasks[b].launch_offset == nine_digits(5e-6));
  CHECK(program.tasks[wait].launch_offset == nine_digits(25e-6));
  CHECK(program.tasks[wait].kind == TaskKind::host_wait);
  CHECK(program.tasks[c].launch_offset == nine_digits(5e-6));
  CHECK(program.tasks[c].epoch == program.tasks[a].epoch + 1);
  CHECK(program.epochs == 2);
  CHECK(successors(program, wait) == std::vector<TaskIndex>{c});
}

TEST_CASE("ranks are numbered tensor fastest, then context, data, pipeline, and back") {
  const Scenario scenario = scenario_of(gpt(2, "tensor: 2, pipeline: {stages: 2}"));
  CHECK(RankOrdering(scenario).rank_at({1, 0, 0}) == 1);
  CHECK(RankOrdering(scenario).rank_at({0, 0, 1, 0}) == 2);
  CHECK(RankOrdering(scenario).rank_at({0, 0, 0, 1}) == 8);
  const RankOrdering order(scenario);
  for (int rank = 0; rank < 16; ++rank) CHECK(order.rank_at(order.place_of(rank)) == rank);
  Scenario split = scenario;
  split.parallelism.context.degree = 2;
  CHECK(RankOrdering(split).rank_at({1, 1, 0, 0}) == 3);
  CHECK(RankOrdering(split).rank_at({0, 0, 1, 0}) == 4);
  CHECK(RankOrdering(split).rank_at({0, 0, 0, 1}) == 8);
  const RankOrdering apart(split);
  for (int rank = 0; rank < 16; ++rank) CHECK(apart.rank_at(apart.place_of(rank)) == rank);
}

TEST_CASE("a rank belongs to one group for each thing that it does") {
  const Experiment experiment(gpt(2, "tensor: 2, pipeline: {stages: 2}"));
  const Plan& plan = experiment.plan;
  CHECK(group_of(plan, 3, channel_along(Axis::tensor)).ranks == Ranks{2, 3});
  CHECK(group_of(plan, 3, Channel::data).ranks == Ranks{1, 3, 5, 7});
  CHECK(group_of(plan, 3, Channel::model).ranks == Ranks{2, 3, 10, 11});
  CHECK(group_of(plan, 3, Channel::send_forward).ranks == Ranks{3, 11});
  CHECK(group_of(plan, 11, Channel::receive_forward).ranks == Ranks{3, 11});
  CHECK(group_of(plan, 3, Channel::receive_backward).ranks == Ranks{11, 3});
  const auto& first = plan.group_of[0];
  CHECK(first[static_cast<std::size_t>(Channel::receive_forward)] == -1);
  CHECK(first[static_cast<std::size_t>(Channel::send_backward)] == -1);
}

TEST_CASE("a group has a ring in each of its nodes, and one between them on all its NICs") {
  const Experiment experiment(gpt(4, "tensor: 4"));  // data: two ranks a node on four nodes
  const Group& tensor = group_of(experiment.plan, 0, channel_along(Axis::tensor));
  CHECK(tensor.shape.nodes == 1);
  const auto links = [](const Group& group, Pattern pattern) {
    const auto& streams = group.streams[static_cast<std::size_t>(pattern)];
    return streams.empty() ? 0 : streams[0].links.size();
  };
  CHECK(links(tensor, Pattern::inside) == 4 * 2);  // out and in of four GPUs
  CHECK(links(tensor, Pattern::between) == 0);
  const Group& data = group_of(experiment.plan, 0, Channel::data);
  CHECK(data.ranks == Ranks{0, 4, 8, 12, 16, 20, 24, 28});
  CHECK(data.shape == GroupShape{8, 4, 2});
  CHECK(links(data, Pattern::inside) == 8 * 2);
  CHECK(links(data, Pattern::between) == 4 * 2 * 2);  // up and down of two NICs on four nodes
}

TEST_CASE("ranks that do the same share one program") {
  CHECK(Experiment(gpt(1, "")).plan.programs.size() == 1);
  CHECK(Experiment(gpt(2, "tensor: 8")).plan.programs.size() == 1);
  const Experiment stages(gpt(2, "tensor: 2, pipeline: {stages: 4}"));
  const Plan& plan = stages.plan;
  CHECK(plan.programs.size() == 4);
  for (std::size_t rank = 0; rank < 16; ++rank)
    CHECK(plan.programs[static_cast<std::size_t>(plan.program_of[rank])].stage ==
          static_cast<int>(rank) / 4);
}

TEST_CASE("layers are dealt out evenly, with the embedding first and the head last") {
  const Scenario scenario = scenario_of(gpt(1, "pipeline: {stages: 4}"));
  const OpGraph graph = build(scenario);
  CHECK(blocks_of(scenario, graph, 0, 0) == std::vector<std::size_t>{0, 1, 1});
  CHECK(blocks_of(scenario, graph, 1, 0) == std::vector<std::size_t>{1, 1});
  CHECK(blocks_of(scenario, graph, 3, 0) == std::vector<std::size_t>{1, 1, 2});
}

TEST_CASE("uneven layers and chunks go where the scenario puts them") {
  const Scenario uneven = scenario_of(gpt(1, "pipeline: {stages: 2, layers: [3, 5]}"));
  CHECK(blocks_of(uneven, build(uneven), 0, 0).size() == 1 + 3);
  CHECK(blocks_of(uneven, build(uneven), 1, 0).size() == 5 + 1);
  const Scenario chunks =
      scenario_of(gpt(1, "pipeline: {stages: 2, schedule: interleaved, chunks: 2}"));
  const OpGraph graph = build(chunks);
  CHECK(blocks_of(chunks, graph, 0, 0) == std::vector<std::size_t>{0, 1, 1});
  CHECK(blocks_of(chunks, graph, 0, 1) == std::vector<std::size_t>{1, 1});
  CHECK(blocks_of(chunks, graph, 1, 1) == std::vector<std::size_t>{1, 1, 2});
}

TEST_CASE("a program's edges point forward, and every need has an edge") {
  for (const char* split : {"", "tensor: 4, sequence: true", "pipeline: {stages: 2}",
                            "pipeline: {stages: 2, schedule: interleaved, chunks: 2}",
                            "data: {sharding: zero3}", "data: {sharding: zero1}"}) {
    CAPTURE(split);
    const Experiment experiment(gpt(1, split, 32));
    for (const Program& program : experiment.plan.programs) {
      std::vector<int> needs(program.tasks.size(), 0);
      for (TaskIndex task = 0; task < program.tasks.size(); ++task) {
        for (const TaskIndex next : successors(program, task)) {
          CHECK(next > task);
          ++needs[next];
        }
      }
      for (TaskIndex task = 0; task < program.tasks.size(); ++task)
        REQUIRE(needs[task] == program.tasks[task].needs);
      CHECK(program.step_ends.size() == 1);
    }
  }
}

TEST_CASE("each stage sends what the next receives, once for every micro-batch") {
  const Experiment experiment(gpt(1, "pipeline: {stages: 4}", 12));  // 6 micro-batches
  const auto& programs = experiment.plan.programs;
  CHECK(tasks_on(programs[0], "receive forward") == 0);
  for (std::size_t stage = 0; stage + 1 < 4; ++stage) {
    CHECK(tasks_on(programs[stage], "send forward") == 6);
    CHECK(tasks_on(programs[stage + 1], "receive forward") == 6);
    CHECK(tasks_on(programs[stage + 1], "send backward") == 6);
    CHECK(tasks_on(programs[stage], "receive backward") == 6);
  }
}

TEST_CASE("the loader keeps workers x prefetch batches in flight, by an edge and nothing else") {
  const Experiment experiment(gpt(1, "", 64) +
                              "data: {sample_size: 1 MB, workers: 3, prefetch: 2}\n");
  const Program& program = experiment.plan.programs[0];  // 8 micro-batches
  std::vector<TaskIndex> decodes, deliveries;
  for (TaskIndex task = 0; task < program.tasks.size(); ++task) {
    const std::string& name = experiment.plan.names[program.tasks[task].name];
    if (name == "decode") decodes.push_back(task);
    if (name == "next batch") deliveries.push_back(task);
  }
  REQUIRE(decodes.size() == 8 + 6);  // six are in flight when the run ends
  REQUIRE(deliveries.size() == 8);
  for (std::size_t batch = 0; batch < decodes.size(); ++batch) {
    CAPTURE(batch);
    const Task& decode = program.tasks[decodes[batch]];
    CHECK(program.rows[decode.row].name == fmt::format("loader {}", batch % 3));
    // The first waits for nobody; then for its worker's last batch, later also for a free place.
    CHECK(decode.needs == (batch < 3 ? 0 : batch < 6 ? 1 : 2));
    if (batch < 6) continue;
    const auto freed = successors(program, deliveries[batch - 6]);
    CHECK(std::count(freed.begin(), freed.end(), decodes[batch]) == 1);
  }
}

TEST_CASE("counterfactual plans make one thing free and keep the rest") {
  const Experiment experiment(gpt(2, "tensor: 2", 32) +
                              "data: {sample_size: 1 MB, decode: 5 ms}\n");
  const Plan network = with_free_network(experiment.plan);
  for (const Operation& operation : network.operations) CHECK(operation.phases.empty());
  const Plan input = with_free_input(experiment.plan);
  for (const Program& program : input.programs) {
    for (const Task& task : program.tasks) {
      const RowKind kind = program.rows[task.row].kind;
      if (kind == RowKind::loader || kind == RowKind::copy) CHECK(task.amount == 0);
    }
  }
  const Plan launches = with_free_launches(experiment.plan);
  for (std::size_t i = 0; i < launches.chains.size(); ++i) {
    CHECK(launches.chains[i].launch == 0);
    CHECK(launches.chains[i].launched == doctest::Approx(launches.chains[i].compute));
    CHECK(launches.chains[i].compute == doctest::Approx(experiment.plan.chains[i].compute));
  }
}

TEST_CASE("a plan refuses an unknown schedule and more tasks than a machine can hold") {
  Scenario scenario = scenario_of(gpt(1, "pipeline: {stages: 2}"));
  scenario.parallelism.pipeline.schedule = "zigzag";
  CHECK_THROWS_WITH_AS(make_plan(scenario, build(scenario)), doctest::Contains("zigzag"),
                       UserError);
  Scenario huge = scenario_of(gpt(1, "tensor: 8"));
  huge.run.steps = 10'000;
  huge.training.global_batch = 10'000;
  CHECK_THROWS_WITH_AS(make_plan(huge, build(huge)), doctest::Contains("run.steps"), UserError);
}

TEST_CASE("a plan refuses more tasks than a machine can hold of all kinds of ranks together") {
  Scenario many = scenario_of(gpt(64, "pipeline: {stages: 8}", 16'384));
  std::get<Transformer>(many.model.shape).layers = 512;
  many.parallelism.pipeline.stages = 512;
  const auto refused = doctest::Contains("512 kinds of ranks x ");
  CHECK_THROWS_WITH_AS(make_plan(many, build(many)), refused, UserError);
  many.training.global_batch = 64;
  CHECK(make_plan(many, build(many)).programs.size() >= 512);
}
