// Sequences that are split by heads over more ranks than there are key-value heads.
//
// n ranks of g < n key-value heads of width d: each head is repeated n / g times, so that a rank
// with t tokens exchanges 2 t n d numbers of keys and values instead of 2 t g d, beside t a d of
// the queries of a heads, and keeps as many for the backward pass.
#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kTokens = 2048, kHeads = 16, kWidth = 64, kElement = 2;

Scenario split(int ranks, int kv_heads) {
  return scenario_of(fmt::format(R"(
model: {{name: m, layers: 1, hidden: 1024, heads: 16, kv_heads: {}, vocabulary: 8192, dropout: false,
  bias: false}}
cluster: {{name: c, gpu: h100, gpus_per_node: {}, intra_node: nvlink4}}
training: {{sequence_length: {}, global_batch: 1, micro_batch: 1, attention: flash3}}
parallelism: {{context: {{degree: {}, kind: all_to_all}}}}
run: {{steps: 1, warmup: 0}}
)",
                                 kv_heads, ranks, 2048 * ranks, ranks));
}

struct Attention {
  double traded = 0, saved = 0, repeated = 0;
};

Attention attention_of(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  Attention found;
  for (const Op& op : graph.blocks.at(1).dag.ops) {
    if (!op.core_attention) continue;
    found.saved = op.saved.bytes();
    for (const Item& item : op.forward) {
      if (const auto* start = std::get_if<StartCollective>(&item))
        found.traded += start->bytes.bytes();
      const auto* launch = std::get_if<Launch>(&item);
      if (launch != nullptr && launch->name == "repeat keys and values")
        found.repeated += std::get<MemoryBound>(launch->work).bytes.bytes();
    }
  }
  return found;
}

}  // namespace

TEST_CASE("key-value heads are repeated until each rank has one") {
  constexpr double unit = kElement * kTokens * kWidth;
  const Attention few = attention_of(split(8, 2));
  const Attention enough = attention_of(split(8, 8));
  CHECK(few.traded == nine_digits(unit * (kHeads + 2 * 8 + kHeads)));  // and the output
  CHECK(enough.traded == nine_digits(few.traded));
  CHECK(few.repeated == nine_digits(unit * 2 * (2 + 8)));
  CHECK(enough.repeated == 0);
  CHECK(few.saved == nine_digits(enough.saved));
}
