// Calls of eager PyTorch: their numbers against copies of the layers, whose calls are counted while
// they run (calib/host), and their times against the whole layers.
#include "sim/ops/host_calls.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "sim/ops/host_cost.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

constexpr double kUs = 1e-6;

/// Microseconds forward, without a graph, and backward by call, of the shipped measurement.
std::map<std::string, std::array<double, 3>> measured() {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/host.csv");
  REQUIRE(file.good());
  std::map<std::string, std::array<double, 3>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("call,")) continue;
    std::istringstream text(line);
    std::string call, cell;
    std::getline(text, call, ',');
    for (double& value : rows[call]) {
      std::getline(text, cell, ',');
      value = std::stod(cell);
    }
  }
  return rows;
}

/// Microseconds by what was timed and by whom, and on which machine where one source has several.
std::map<std::string, double> published() {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/host_cuda.csv");
  REQUIRE(file.good());
  std::map<std::string, double> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("kind,")) continue;
    std::istringstream text(line);
    std::array<std::string, 6> cells;
    for (std::string& cell : cells) std::getline(text, cell, ',');
    const auto& [kind, what, us, machine, how, source] = cells;
    std::string name = fmt::format("{} by {}", what, source);
    if (source.ends_with("issue 2053")) name += " on " + machine;
    REQUIRE(rows.emplace(name, std::stod(us)).second);
  }
  return rows;
}

Block layer_of(const char* training, const char* parallelism = "") {
  const OpGraph graph = build(scenario_of(fmt::format(R"(
model: {{name: m, layers: 1, hidden: 256, heads: 4, ffn: 1024, vocabulary: 1000, positions: 64}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 8, intra_node: nvlink3}}
training: {{sequence_length: 64, global_batch: 16, micro_batch: 2, {}}}
{}
)",
                                                      training, parallelism)));
  return graph.blocks.at(1);
}

// Made when they are asked for: layers register themselves before main, in no stated order.
const Block& megatron() {
  static const Block block = layer_of("fusion: fused, attention: unfused");
  return block;
}

const Block& bert() {
  static const Block block = layer_of("fusion: none, attention: eager");
  return block;
}

template <class Number>
int sum_of(const Block& block, Number number) {
  int sum = 0;
  for (const Op* op : block.order()) sum += op->calls.*number;
  return sum;
}

int kernels_of(const Op& op) {
  int kernels = 0;
  for (const Item& item : op.forward) kernels += std::holds_alternative<Launch>(item) ? 1 : 0;
  return kernels;
}

/// The time of the operator that launches the kernel, on a CPU.
Seconds operator_time(const Launch& launch, const HostCalls& calls, HostPass pass) {
  const auto* memory = std::get_if<MemoryBound>(&launch.work);
  const bool norm = memory != nullptr &&
                    (memory->rate == MemoryRate::norm || memory->rate == MemoryRate::softmax);
  // A single call has the gradients of a norm's input and of its weights.
  if (norm && launch.for_weights && pass == HostPass::backward) return {};
  const HostCost& cost = memory == nullptr ? host_cost::product
                         : norm            ? host_cost::norm
                                           : host_cost::elementwise;
  if (calls.in_functions) return cost.no_graph;
  return pass == HostPass::backward ? cost.backward : cost.forward;
}

/// The seconds of everything that a layer's pass asks of the host, but for launches.
double seconds_of(const Block& block, HostPass pass) {
  Seconds sum;
  for (const Op* op : block.order()) {
    sum += host_time(op->calls, kernels_of(*op), pass);
    for (const Item& item : pass == HostPass::backward ? op->backward : op->forward) {
      if (const auto* launch = std::get_if<Launch>(&item))
        sum += operator_time(*launch, op->calls, pass);
      if (std::holds_alternative<GradientReady>(item)) sum += host_cost::parameter.backward;
    }
  }
  return sum.seconds();
}

}  // namespace

TEST_CASE("a call takes what the shipped measurement says") {
  const auto rows = measured();
  const auto check = [&](const char* call, const HostCost& cost) {
    CAPTURE(call);
    const auto& row = rows.at(call);
    CHECK(cost.forward.seconds() == doctest::Approx(row[0] * kUs));
    CHECK(cost.no_graph.seconds() == doctest::Approx(row[1] * kUs));
    CHECK(cost.backward.seconds() == doctest::Approx(row[2] * kUs));
  };
  check("elementwise", host_cost::elementwise);
  check("norm", host_cost::norm);
  check("product", host_cost::product);
  check("view", host_cost::view);
  check("module", host_cost::module);
  check("function", host_cost::function);
  check("fork", host_cost::fork);
  check("node", host_cost::node);
  check("scripted", host_cost::scripted);
  check("checkpoint", host_cost::checkpoint);
  check("parameter", host_cost::parameter);
  check("hook", host_cost::hook);
  check("optimizer tensor", host_cost::optimizer_tensor);
}

TEST_CASE("Python between the calls of a layer is the whole less its parts") {
  const auto rows = measured();
  const auto& whole = rows.at("Megatron-LM layer");
  const auto& parts = rows.at("parts of Megatron-LM layer");
  const HostCost cost = host_cost::between_calls;
  CHECK(cost.forward.seconds() == doctest::Approx((whole[0] - parts[0]) * kUs));
  CHECK(cost.backward.seconds() == doctest::Approx((whole[2] - parts[2]) * kUs));
  CHECK(cost.no_graph == cost.forward);
  CHECK(sum_of(megatron(), &HostCalls::layers) == 1);
  CHECK(sum_of(bert(), &HostCalls::layers) == 0);
}

TEST_CASE("a collective takes the least that is published of a whole all-reduce") {
  const auto rows = published();
  const double least = std::min(rows.at("all_reduce of c10d by pytorch/pytorch issue 138773"),
                                rows.at("all_reduce of c10d by pytorch/pytorch pull 147820"));
  CHECK((host_published::collective + 16_us).seconds() == doctest::Approx(least * kUs));
}

TEST_CASE("a linear module of Transformer Engine takes what is published of it, less another's") {
  const auto rows = published();
  const auto over = [&](const char* engine, const char* other) {
    return rows.at(engine) - rows.at(other);
  };
  const char* local =
      "Megatron-LM ColumnParallelLinear forward by NVIDIA/TransformerEngine pull 1191";
  std::array pairs{
      over("TEColumnParallelLinear forward in 2024 by NVIDIA/TransformerEngine pull 1191", local),
      over("TEColumnParallelLinear forward after that pull by NVIDIA/TransformerEngine pull 1191",
           local),
      over("te.Linear forward by NVIDIA/TransformerEngine issue 2053 on GH200",
           "Linear forward by NVIDIA/TransformerEngine issue 2053 on GH200"),
      over("te.Linear forward by NVIDIA/TransformerEngine issue 2053 on GB200",
           "Linear forward by NVIDIA/TransformerEngine issue 2053 on GB200")};
  std::sort(pairs.begin(), pairs.end());
  CHECK(host_published::engine_linear.seconds() ==
        doctest::Approx((pairs[1] + pairs[2]) / 2 * kUs).epsilon(0.01));
}

TEST_CASE("linear modules are Transformer Engine's where the layers are") {
  const Block engine =
      layer_of("fusion: fused, transformer_impl: transformer_engine", "framework: megatron");
  CHECK(sum_of(engine, &HostCalls::engine_linears) == 4);
  CHECK(sum_of(megatron(), &HostCalls::engine_linears) == 0);
  Seconds forward, backward;
  for (const Op* op : engine.order()) {
    forward += published_time(op->calls, HostPass::forward);
    backward += published_time(op->calls, HostPass::backward);
  }
  CHECK(forward == host_published::engine_linear * 4.0);
  CHECK(backward == Seconds{});
}

TEST_CASE("a layer of Megatron-LM makes the calls that are counted in its copy") {
  CHECK(sum_of(megatron(), &HostCalls::modules) == 12);
  CHECK(sum_of(megatron(), &HostCalls::functions) == 12);
  CHECK(sum_of(megatron(), &HostCalls::scripted) == 3);
  CHECK(sum_of(megatron(), &HostCalls::forks) == 1);
  CHECK(sum_of(megatron(), &HostCalls::views) == 18);
  CHECK(sum_of(megatron(), &HostCalls::views_in_functions) == 16);
}

TEST_CASE("dropout has random states of its own only where tensor ranks hold different scores") {
  const Block sequence =
      layer_of("fusion: fused", "parallelism: {tensor: 2, sequence: true}\nframework: megatron");
  CHECK(sum_of(sequence, &HostCalls::forks) == 0);
}

TEST_CASE("a layer of BERT makes the calls that are counted in its copy") {
  CHECK(sum_of(bert(), &HostCalls::modules) == 17);
  CHECK(sum_of(bert(), &HostCalls::functions) == 0);
  CHECK(sum_of(bert(), &HostCalls::views) == 38);
}

TEST_CASE("the calls of a layer take nearly as long as the whole layer did") {
  const auto rows = measured();
  const auto check = [&](const char* name, const Block& block) {
    CAPTURE(name);
    const auto whole = rows.at(name);
    const double parts =
        seconds_of(block, HostPass::forward) + seconds_of(block, HostPass::backward);
    CHECK(parts == doctest::Approx((whole[0] + whole[2]) * kUs).epsilon(0.2));
  };
  check("Megatron-LM layer", megatron());
  check("BERT layer", bert());
}
