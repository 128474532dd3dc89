// Calls of eager PyTorch: their numbers against copies of the layers, whose calls are counted while
// they run (calib/host), and their times against the whole layers.
#include "sim/ops/host_calls.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sim/ops/host_cost.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

constexpr double kUs = 1e-6;

/// Microseconds forward, without a graph, and backward by call, of a shipped measurement.
std::map<std::string, std::array<double, 3>> measured(const char* table = "host.csv") {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/" + table);
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

/// Of Megatron Core with Transformer Engine's modules, on eight GPUs.
Block core_layer(const std::string& model, const std::string& split) {
  const OpGraph graph = build(scenario_of(fmt::format(R"(
framework: megatron
model: {{name: m, layers: 1, hidden: 256, heads: 4, ffn: 1024, vocabulary: 1000, dropout: false{}}}
cluster: {{name: c, gpu: h100, gpus_per_node: 8, intra_node: nvlink4}}
training: {{sequence_length: 64, global_batch: 16, precision: bf16, attention: cudnn,
  transformer_impl: transformer_engine}}
{}
)",
                                                      model, split)));
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

/// Microseconds of calls that are counted, and of gradients: forward, without a graph, backward.
std::array<double, 3> called(const Block& block) {
  std::array<Seconds, 3> sums;
  const std::array passes{HostPass::forward, HostPass::no_graph, HostPass::backward};
  for (const Op* op : block.order()) {
    for (std::size_t i = 0; i < passes.size(); ++i)
      sums[i] += host_time(op->calls, kernels_of(*op), passes[i]);
    for (const Item& item : op->backward) {
      if (std::holds_alternative<GradientReady>(item))
        sums[2] += host_cost::parameter.backward + host_cost::hook.backward;
    }
  }
  return {sums[0].seconds() / kUs, sums[1].seconds() / kUs, sums[2].seconds() / kUs};
}

/// What a layer takes besides its operators, by a shipped measurement.
std::array<double, 3> python_of(const char* table, const std::string& layer) {
  const auto rows = measured(table);
  const auto& whole = rows.at(layer);
  const auto& operators = rows.at("operators of " + layer);
  return {whole[0] - operators[0], whole[1] - operators[1], whole[2] - operators[2]};
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

TEST_CASE("a layer of Megatron-LM takes what its Python takes, less its operators") {
  const std::array<double, 3> whole = python_of("host_megatron.csv", "legacy layer");
  const std::array<double, 3> counted = called(megatron());
  for (std::size_t i = 0; i < whole.size(); ++i)
    CHECK(counted[i] == doctest::Approx(whole[i]).epsilon(0.01));
  CHECK(sum_of(megatron(), &HostCalls::layers) == 1);
  CHECK(sum_of(megatron(), &HostCalls::engine_layers) == 0);
  CHECK(sum_of(bert(), &HostCalls::layers) == 0);
}

TEST_CASE("layers of Megatron Core take what their Python takes, less their operators") {
  const char* gpt = ", positions: 64";
  const char* llama = ", positions: 0, kv_heads: 1, gated_mlp: true, rms_norm: true, bias: false";
  const auto experts = [&](int count) {
    return fmt::format("{}, experts: {{count: {}, top_k: 8, ffn: 256}}", llama, count);
  };
  const auto by = [](const char* dispatcher) {
    return fmt::format("parallelism: {{expert: {{degree: 8, dispatcher: {}}}}}", dispatcher);
  };
  struct Layer {
    const char* row;
    std::string model, split;
  };
  // Those of one kind are alike within a quarter, and right in the mean.
  const auto check = [](const std::vector<Layer>& layers) {
    std::array<double, 3> real{}, counted{};
    for (const Layer& layer : layers) {
      CAPTURE(layer.row);
      const auto python = python_of("host_megatron_core.csv", layer.row);
      const auto calls = called(core_layer(layer.model, layer.split));
      for (std::size_t i = 0; i < python.size(); ++i) {
        CHECK(calls[i] == doctest::Approx(python[i]).epsilon(0.25));
        real[i] += python[i];
        counted[i] += calls[i];
      }
    }
    for (std::size_t i = 0; i < real.size(); ++i)
      CHECK(counted[i] == doctest::Approx(real[i]).epsilon(0.03));
  };
  check({{"layer of GPT", gpt, ""}, {"layer of Llama", llama, ""}});
  check({{"layer with 1 expert by all-to-all", experts(8), by("all_to_all")},
         {"layer with 1 expert by DeepEP", experts(8), by("deepep")},
         {"layer with 8 experts by all-to-all", experts(64), by("all_to_all")},
         {"layer with 8 experts by DeepEP", experts(64), by("deepep")}});
}

TEST_CASE("a collective takes the least that is published of a whole all-reduce") {
  const auto rows = published();
  const double least = std::min(rows.at("all_reduce of c10d by pytorch/pytorch issue 138773"),
                                rows.at("all_reduce of c10d by pytorch/pytorch pull 147820"));
  CHECK((host_published::collective + 16_us).seconds() == doctest::Approx(least * kUs));
}

TEST_CASE("a linear module of Transformer Engine takes what it does in a loop, less PyTorch's") {
  const auto rows = measured("host_megatron_core.csv");
  const auto& engine = rows.at("te.Linear in a loop");
  const auto& other = rows.at("torch.nn.Linear in a loop");
  const HostCost cost = host_cost::engine_linear;
  CHECK(cost.forward.seconds() == doctest::Approx((engine[0] - other[0]) * kUs));
  CHECK(cost.no_graph.seconds() == doctest::Approx((engine[1] - other[1]) * kUs));
  CHECK(cost.backward.seconds() == doctest::Approx((engine[2] - other[2]) * kUs));
}

TEST_CASE("linear modules are Transformer Engine's where the layers are") {
  const Block engine =
      layer_of("fusion: fused, transformer_impl: transformer_engine", "framework: megatron");
  CHECK(sum_of(engine, &HostCalls::engine_linears) == 4);
  CHECK(sum_of(engine, &HostCalls::engine_layers) == 1);
  CHECK(sum_of(engine, &HostCalls::layers) == 0);
  CHECK(sum_of(megatron(), &HostCalls::engine_linears) == 0);
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
