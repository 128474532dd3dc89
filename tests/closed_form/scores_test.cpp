// What models put around attention and experts beside products: sinks, caps, gates, norms behind,
// biases. Parameters of the published models to the digit, and the FLOPs and bytes of each.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/ops/blocks.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kTokens = 2048, kLogits = kTokens * 32000;

std::string decoder(const std::string& more, const std::string& training = "attention: eager") {
  return fmt::format(
      "cluster: {{base: dgx-h100, nodes: 1}}\n"
      "model: {{name: m, layers: 2, hidden: 1024, heads: 8, ffn: 4096, vocabulary: 32000, "
      "rms_norm: true, bias: false, dropout: false, gated_mlp: true{}}}\n"
      "training: {{sequence_length: 2048, global_batch: 8, vocabulary_multiple: 1, {}}}\n",
      more, training);
}

OpGraph graph_of(const std::string& more, const std::string& training = "attention: eager") {
  return build(scenario_of(decoder(more, training)));
}

/// Bytes of all kernels whose names begin like that, in one layer of each kind and in the head.
double bytes_of(const OpGraph& graph, const std::string& name) {
  double sum = 0;
  for (const Block& block : graph.blocks) {
    for (const Op& op : block.dag.ops) {
      for (const Items* items : {&op.forward, &op.backward}) {
        for (const Item& item : *items) {
          const auto* launch = std::get_if<Launch>(&item);
          if (launch != nullptr && launch->name.starts_with(name))
            sum += std::get<MemoryBound>(launch->work).bytes.bytes();
        }
      }
    }
  }
  return sum;
}

Model library_model(const std::string& name) {
  return load_model(name, Library{{source_folder()}});
}

}  // namespace

TEST_CASE("parameters of models with sinks, biases of experts, and four norms a layer") {
  CHECK(parameter_count(library_model("gpt-oss-120b")) == 116'829'156'672);
  CHECK(parameter_count(library_model("gpt-oss-20b")) == 20'914'757'184);
  CHECK(parameter_count(library_model("gemma2-2b")) == 2'614'341'888);
  CHECK(parameter_count(library_model("gemma3-12b")) == 11'766'034'176);
  CHECK(parameter_count(library_model("gemma3-27b")) == 27'009'346'304);
}

TEST_CASE("each part adds its parameters to those that a step trains") {
  const double none = graph_of("").total_parameters;
  const auto more = [&](const std::string& part) { return graph_of(part).total_parameters - none; };
  CHECK(more(", sinks: true") == 2 * 8);
  CHECK(more(", attention_gate: true") == 2 * 1024 * 1024);
  CHECK(more(", sandwich_norm: true") == 2 * 2 * 1024);
  CHECK(more(", score_cap: true, logit_cap: true") == 0);
  const std::string experts = ", experts: {count: 8, top_k: 2, ffn: 512, shared_ffn: 512";
  // Of each expert 2 x 512 and 1024, of the router 8; of the shared gate 1024.
  CHECK(more(experts + ", bias: true}") - more(experts + "}") == 2 * (8 * (2 * 512 + 1024) + 8));
  CHECK(more(experts + ", shared_gate: true}") - more(experts + "}") == 2 * 1024);
}

TEST_CASE("a gate of attention is one more product as wide as queries") {
  const double gate = 2.0 * 1024 * 1024 * kTokens * 8 * 2;  // eight samples, two layers
  CHECK(graph_of(", attention_gate: true").model_flops.flops() - graph_of("").model_flops.flops() ==
        nine_digits(3 * gate));
  // Each rank has its heads' share.
  const auto split = [](const std::string& more) {
    return build(scenario_of(decoder(more) + "parallelism: {tensor: 4}\n")).model_flops.flops();
  };
  CHECK(split(", attention_gate: true") - split("") == nine_digits(3 * gate));
}

TEST_CASE("caps and sinks are kernels on all scores where attention is not fused") {
  const double scores = 2 * 8 * kTokens * kTokens;  // bytes
  const OpGraph all = graph_of(", score_cap: true, logit_cap: true, sinks: true");
  // Forward divided, tanh, multiplied; backward the same with the tanh read besides.
  CHECK(bytes_of(all, "scores cap") == nine_digits((6 + 7) * scores));
  CHECK(bytes_of(all, "scores beside sinks") == nine_digits((2 + 2) * scores));
  CHECK(bytes_of(all, "logits cap") == nine_digits((6 + 7) * 2 * kLogits));
  // Fused attention has them inside; a compiler joins all of them with their neighbours.
  const OpGraph fused = graph_of(", score_cap: true, logit_cap: true", "attention: flash2");
  CHECK(bytes_of(fused, "scores") == 0);
  CHECK(bytes_of(fused, "logits cap") == nine_digits((6 + 7) * 2 * kLogits));
  const OpGraph compiled = graph_of(", score_cap: true, logit_cap: true, sinks: true",
                                    "attention: eager, fusion: compiled");
  CHECK(bytes_of(compiled, "scores cap") + bytes_of(compiled, "scores beside") +
            bytes_of(compiled, "logits cap") ==
        0);
}

TEST_CASE("rotary positions that are not fused go through operators of PyTorch") {
  const auto graph = [](const std::string& more, const std::string& fusion) {
    return graph_of(more, "attention: flash2, fusion: " + fusion);
  };
  const auto backward = [](const OpGraph& of) { return bytes_of(of, "rotary embedding backward"); };
  const auto forward = [&](const OpGraph& of) {
    return bytes_of(of, "rotary embedding") - backward(of);
  };
  // Queries and keys of 1,024 numbers a token each, in 16 bits.
  const double one = 2.0 * 2 * kTokens * 1024;
  CHECK(forward(graph("", "fused")) == nine_digits(2 * one));
  CHECK(backward(graph("", "fused")) == nine_digits(2 * one));
  // What operators of Megatron-LM's _apply_rotary_pos_emb_bshd read and write, as PyTorch 1.13
  // dispatches them, but for the sines.
  for (const OpGraph& of :
       {graph(", yarn_factor: 32", "fused"), graph("", "fused, rope_fusion: false")}) {
    CHECK(forward(of) == nine_digits(12 * one));
    CHECK(backward(of) == nine_digits(14 * one));
  }
  for (const char* fusion : {"none", "compiled", "liger"}) {
    CHECK(forward(graph(", yarn_factor: 32", fusion)) == forward(graph("", fusion)));
    CHECK(backward(graph(", yarn_factor: 32", fusion)) == backward(graph("", fusion)));
  }
}

TEST_CASE("heads of latent attention are made by operators, or by two fused kernels") {
  const auto moved = [](const std::string& training) {
    const std::string latent =
        ", mla: {query_rank: 256, kv_rank: 128, nope_dim: 128, rope_dim: 64, value_dim: 96}";
    const OpGraph graph = graph_of(latent, "attention: flash3" + training);
    double sum = 0;
    for (const char* name :
         {"rotary", "join", "copy values", "kv gradient", "query gradient", "keys and values"})
      sum += bytes_of(graph, name);
    return sum;
  };
  // Eight heads of 2 bytes a number, and one key for all of them. 14 tensors of rotary parts forward
  // and 20 backward are what Megatron-LM's functions read and write in PyTorch 1.13.
  const double token = 2 * kTokens, all = 8 * token, query = all * (128 + 64), value = all * 96,
               rotary = all * 64, up = all * (128 + 96), shared = token * 64;
  CHECK(moved(", rope_fusion: false") ==
        nine_digits((14 * rotary + 14 * shared + 4 * query + 2 * value) +
                    (2 * up + rotary + shared + 20 * shared + 20 * rotary + 2 * query)));
  CHECK(moved("") == nine_digits(2 * (2 * rotary + up + shared + query + value)));
}

TEST_CASE("kernels of attention run where they have what the model asks for") {
  const auto kernel = [](const std::string& more) {
    Scenario scenario = scenario_of(decoder(more, "micro_batch: 1"));
    return scenario.training.attention;
  };
  CHECK(kernel("") == "flash3");
  CHECK(kernel(", score_cap: true") == "flash3");
  CHECK(kernel(", sinks: true") == "cudnn");
  CHECK(kernel(", sinks: true, score_cap: true") == "unfused");
}
