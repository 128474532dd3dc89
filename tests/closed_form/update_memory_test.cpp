// What an update holds beside its state: gradients of 16 bits in fp32, where it works on fp32 weights.
//
// P parameters on N ranks: 4 P bytes, or 4 P / N where the optimizer is sharded. DeepSpeed joins its
// share of the gradients before it casts that, 2 P / N more, and keeps what earlier micro-batches
// summed up beside the share of the one at hand, 2 x 2 P / N.
#include "sim/plan/memory/update_memory.hpp"

#include <string>

#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double P = 6 * 512.0 * 512, N = 8;

Scenario stack(const std::string& data, const std::string& training = "", int micro_batches = 1) {
  return scenario_of(fmt::format(R"(
model: {{name: m, kind: mlp, layers: 6, width: 512}}
cluster: {{base: dgx-h100, nodes: 1}}
training: {{global_batch: {}, precision: bf16{}}}
parallelism: {{data: {{{}}}}}
)",
                                 8 * micro_batches, training, data));
}

double held(const Scenario& scenario) { return update_bytes(scenario, build(scenario), 0).bytes(); }

double by_deepspeed(Scenario scenario) {
  scenario.framework = Framework::deepspeed;
  return held(scenario);
}

}  // namespace

TEST_CASE("an update of fp32 weights holds narrow gradients in fp32") {
  CHECK(held(stack("sharding: ddp")) == 4 * P);
  CHECK(held(stack("sharding: zero1")) == 4 * P / N);
  CHECK(by_deepspeed(stack("sharding: ddp")) == 4 * P);
  CHECK(by_deepspeed(stack("sharding: zero2")) == (4 + 2) * P / N);
  CHECK(by_deepspeed(stack("sharding: zero3")) == (4 + 2) * P / N);
}

TEST_CASE("an update that reads gradients as they are holds no others") {
  CHECK(held(stack("sharding: ddp", ", gradients: fp32")) == 0);
  CHECK(held(stack("sharding: ddp", ", master_weights: false")) == 0);
  CHECK(held(stack("sharding: zero1, offload_optimizer: true")) == 0);
}

TEST_CASE("an update that needs more than any pass is the peak") {
  const Scenario scenario = stack("sharding: ddp");
  const StageMemory memory = memory_of_stage(scenario, build(scenario), 0);
  double varies = 0;
  for (const MemoryCategory& category : memory.categories)
    varies += category.varies ? category.bytes.bytes() : 0;
  CHECK(varies == nine_digits(4 * P));
}

TEST_CASE("DeepSpeed's stage 2 keeps the sum of earlier micro-batches beside the share at hand") {
  const auto gradients = [](int micro_batches, Framework framework) {
    Scenario scenario = stack("sharding: zero2", "", micro_batches);
    scenario.framework = framework;
    const StageParameters parameters = stage_parameters(scenario, build(scenario), 0);
    return state_bytes(scenario, parameters).gradients;
  };
  CHECK(gradients(1, Framework::deepspeed) == 2 * P / N);
  CHECK(gradients(2, Framework::deepspeed) == 2 * 2 * P / N);
  CHECK(gradients(2, Framework::megatron) == 2 * P / N);
}
