// Encoders: parameters, FLOPs, collectives and saved activations of BERT, ViT and T5.
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/ops/blocks.hpp"
#include "sim/ops/style/composed.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

Style passing(std::string_view name, std::vector<GradientPass> passes) {
  Style style = fused_style();
  style.name = name;
  style.gradient_passes = std::move(passes);
  return style;
}

Style widened(std::string_view name, std::vector<LayerPart> parts) {
  Style style = eager_style();
  style.name = name;
  style.fp32_parts = std::move(parts);
  return style;
}

Style composed() {
  Style style = eager_style();
  style.name = "eager-composed";
  style.norm = composed_norm;
  style.activation = composed_activation;
  style.dropout = composed_dropout();
  style.row_softmax = composed_row_softmax();
  return style;
}

// Styles that have one property alone, which those of frameworks have together.
const Registered<Style> kAllPasses{
    passing("fused-all", {GradientPass::unscale, GradientPass::check, GradientPass::clip})};
const Registered<Style> kUnscale{passing("fused-unscale", {GradientPass::unscale})};
const Registered<Style> kClip{passing("fused-clip", {GradientPass::clip})};
const Registered<Style> kWide{widened("eager-wide", {LayerPart::activation, LayerPart::residual,
                                                     LayerPart::norm, LayerPart::softmax})};
const Registered<Style> kWideNorms{widened("eager-wide-norms", {LayerPart::norm})};
const Registered<Style> kComposed{composed()};

OpGraph graph_of(const std::string& model, const std::string& training,
                 const std::string& parallelism = "") {
  return build(scenario_of(fmt::format(R"(
model: {}
cluster: {{name: c, gpu: h100, gpus_per_node: 8, intra_node: nvlink4}}
training: {{global_batch: 16, micro_batch: 2, precision: bf16, {}}}
parallelism: {{{}}}
)",
                                       model, training, parallelism)));
}

const Block& block_named(const OpGraph& graph, const std::string& name) {
  for (const Block& block : graph.blocks) {
    if (block.name == name) return block;
  }
  throw std::out_of_range(name);
}

const Op& op_named(const Block& block, const std::string& name) {
  for (const Op* op : block.order()) {
    if (op->name == name) return *op;
  }
  throw std::out_of_range(name);
}

double kernel_flops(const Items& items) {
  double sum = 0;
  for (const Item& item : items) {
    const auto* launch = std::get_if<Launch>(&item);
    if (launch == nullptr) continue;
    if (const auto* gemm = std::get_if<Gemm>(&launch->work)) sum += gemm->flops().flops();
    if (const auto* fused = std::get_if<FusedAttention>(&launch->work))
      sum += fused->flops().flops();
  }
  return sum;
}

double gradients_of(const Op& op) {
  double sum = 0;
  for (const Item& item : op.backward) {
    if (const auto* ready = std::get_if<GradientReady>(&item)) sum += ready->elements;
  }
  return sum;
}

/// Collectives of that kind in one direction of a block.
int collectives(const Block& block, bool forward, CollectiveOp kind) {
  int count = 0;
  for (const Op* op : block.order()) {
    for (const Item& item : forward ? op->forward : op->backward) {
      const auto* start = std::get_if<StartCollective>(&item);
      if (start != nullptr && start->op == kind) ++count;
    }
  }
  return count;
}

struct LibraryModel {
  std::string name;
  std::string training;
};

const LibraryModel kModels[] = {
    {"bert-base", "sequence_length: 128"}, {"bert-large", "sequence_length: 512"},
    {"vit-b-16", "recompute: none"},       {"vit-h-14", "recompute: none"},
    {"t5-base", "sequence_length: 512"},   {"t5-v1.1-large", "sequence_length: 512"},
};

constexpr double b = 2;  // the micro-batch

}  // namespace

TEST_CASE("the blocks of encoders sum to the parameter count that is published") {
  for (const auto& [the_name, training] : kModels) {
    const auto& name = the_name;
    CAPTURE(name);
    const Scenario scenario =
        scenario_of(fmt::format("model: {}\ncluster: {{name: c, gpu: h100}}\ntraining: "
                                "{{global_batch: 2, micro_batch: 2, {}}}\n",
                                name, training));
    const OpGraph graph = build(scenario);
    double sum = 0;
    for (const std::size_t block : graph.chain) sum += graph.blocks[block].parameters();
    CHECK(sum == static_cast<double>(scenario.model.published_parameters));
    CHECK(graph.total_parameters == sum);
  }
}

TEST_CASE("every parameter of an encoder has its gradient, and every FLOP its kernel") {
  for (const auto& [the_name, training] : kModels) {
    const auto& name = the_name;
    const OpGraph graph = graph_of(name, training + ", attention: unfused");
    for (const Block& block : graph.blocks) {
      for (const Op* op : block.order()) {
        CAPTURE(name);
        CAPTURE(op->name);
        CHECK(gradients_of(*op) ==
              std::accumulate(op->parameters.begin(), op->parameters.end(), 0.0));
        CHECK(kernel_flops(op->forward) == op->flops.flops());
        // Images need no gradient.
        const double backward = op->name == "patches" ? 1 : 2;
        CHECK(kernel_flops(op->backward) == backward * op->flops.flops());
      }
    }
  }
}

TEST_CASE("BERT computes GPT's layers, and its head on 15.6 % of the tokens") {
  // Layers: 24 b s h^2 (1 + s/6h) each. Head: r tokens of each sequence through h x h and h x V;
  // one through h x h and h x 2.
  const double s = 128, h = 768, V = 30522, r = 20, l = 12;
  const double layers = l * 24 * b * s * h * h * (1 + s / (6 * h));
  const double head = 2 * b * r * h * (h + V) + 2 * b * h * (h + 2);
  const OpGraph graph = graph_of("bert-base", "sequence_length: 128");
  CHECK(graph.model_flops.flops() == nine_digits(8 * 3 * (layers + head)));  // 8 micro-batches
  for (const char* split : {"tensor: 2", "tensor: 4", "tensor: 4, sequence: true"}) {
    CAPTURE(split);
    // 30522 rows are padded to 30720 of the tensor ranks.
    const double padded = 2 * b * r * h * (30720 - V);
    CHECK(graph_of("bert-base", "sequence_length: 128", split).model_flops.flops() ==
          nine_digits(8 * 3 * (layers + head + padded)));
  }
}

TEST_CASE("ViT computes the multiply-adds that torchvision states") {
  // pytorch/vision torchvision/models/vision_transformer.py, _ops: 17.564, 61.555, 167.295 G.
  const auto multiply_adds = [](const char* model) {
    return graph_of(model, "recompute: none").model_flops.flops() / 16 / 3 / 2 / 1e9;
  };
  CHECK(multiply_adds("vit-b-16") == doctest::Approx(17.564).epsilon(1e-4));
  CHECK(multiply_adds("vit-l-16") == doctest::Approx(61.555).epsilon(1e-4));
  CHECK(multiply_adds("vit-h-14") == doctest::Approx(167.295).epsilon(1e-4));
}

TEST_CASE("T5 computes two stacks of different lengths, and each decoder layer attends to both") {
  // A layer's own attention on s tokens: 8 b s h a through its four matrices, a = heads x width,
  // and 4 b s^2 a between tokens; its MLP 4 b s h f. A decoder layer on t tokens also: queries and
  // projection 4 b t h a, keys and values of the source 4 b s h a, 4 b t s a between them.
  const double s = 512, t = 128, h = 768, a = 768, f = 3072, V = 32128, l = 12;
  const double encoder = 8 * b * s * h * a + 4 * b * s * s * a + 4 * b * s * h * f;
  const double decoder = 8 * b * t * h * a + 4 * b * t * t * a + 4 * b * t * h * f +
                         4 * b * (t + s) * h * a + 4 * b * t * s * a;
  const double forward = l * (encoder + decoder) + 2 * b * t * h * V;
  const char* lengths = "sequence_length: 512, decoder_sequence_length: 128";
  CHECK(graph_of("t5-base", lengths).model_flops.flops() == nine_digits(8 * 3 * forward));
  // 32128 rows are a multiple of 128, not of 2 x 128.
  const double padded = 2 * b * t * h * 128;
  CHECK(graph_of("t5-base", lengths, "tensor: 2").model_flops.flops() ==
        nine_digits(8 * 3 * (forward + padded)));
}

TEST_CASE("T5 is embedding, encoder, its output with the second embedding, decoder, head") {
  const OpGraph graph =
      graph_of("{base: t5-small, layers: 2, encoder_layers: 3}", "sequence_length: 64");
  std::string names;
  for (const std::size_t block : graph.chain) names += graph.blocks[block].name + ", ";
  CHECK(names ==
        "embedding, encoder layer, encoder layer, encoder layer, encoder output, decoder layer, "
        "decoder layer, head, ");
}

TEST_CASE("a T5 decoder layer reduces three outputs forward and four inputs backward") {
  const OpGraph graph = graph_of("t5-base", "sequence_length: 512", "tensor: 4");
  const Block& decoder = block_named(graph, "decoder layer");
  CHECK(collectives(decoder, true, CollectiveOp::all_reduce) == 3);
  // The four inputs are its own tokens, the queries of the cross attention, the source, and the
  // MLP's.
  CHECK(collectives(decoder, false, CollectiveOp::all_reduce) == 4);
  CHECK(collectives(block_named(graph, "encoder layer"), false, CollectiveOp::all_reduce) == 2);
}

TEST_CASE("a decoder layer keeps queries, the source's keys and values, scores and its inputs") {
  // Cross attention adds, in bytes of bf16 with dropout: the norm's and the queries' input 2 x 2
  // btH, queries 2 bta, keys and values 2 x 2 bsa, scores and their dropout 2 x 2 bnts, its mask
  // bnts, the projection's input 2 bta, a residual mask bth. The encoder's output is kept once, not
  // here.
  const double s = 512, t = 128, h = 768, a = 768, heads = 12;
  const OpGraph graph =
      graph_of("t5-base", "sequence_length: 512, decoder_sequence_length: 128, attention: unfused");
  const OpGraph alone =
      graph_of("{base: t5-base, encoder_layers: 0}", "sequence_length: 128, attention: unfused");
  const double cross = block_named(graph, "decoder layer").saved(Recompute::none).bytes() -
                       block_named(alone, "layer").saved(Recompute::none).bytes();
  // The decoder alone has a causal mask, too: what it keeps does not depend on it.
  CHECK(cross == 4 * b * t * h + 2 * b * t * a + 4 * b * s * a + 5 * b * heads * t * s +
                     2 * b * t * a + b * t * h);
}

TEST_CASE("a BERT layer keeps what a GPT layer keeps: norms stand elsewhere, not fewer") {
  const std::string dimensions = "name: m, layers: 2, hidden: 256, heads: 4, vocabulary: 1000";
  const auto kept = [&](const std::string& more) {
    const OpGraph graph =
        graph_of(fmt::format("{{{}{}}}", dimensions, more), "sequence_length: 64");
    return block_named(graph, "layer").saved(Recompute::none);
  };
  CHECK(kept(", positions: 64, masked: {}, post_norm: true") == kept(", positions: 64"));
}

TEST_CASE(
    "without a mask fused attention does all of the work, and softmax reads all of the scores") {
  const auto attention_of = [](const char* causal, const char* kernel) {
    const OpGraph graph = graph_of(
        fmt::format("{{name: m, layers: 1, hidden: 256, heads: 4, vocabulary: 1000, causal: {}}}",
                    causal),
        fmt::format("sequence_length: 64, attention: {}", kernel));
    return op_named(block_named(graph, "layer"), "attention");
  };
  const Op full = attention_of("false", "flash3");
  const Op causal = attention_of("true", "flash3");
  CHECK(full.flops == causal.flops);  // the convention counts all
  CHECK(kernel_flops(full.forward) == full.flops.flops());
  CHECK(kernel_flops(causal.forward) == full.flops.flops() / 2);
  CHECK(kernel_flops(full.backward) == 2.5 * full.flops.flops());  // the scores again
  const auto softmax = [](const Op& op) {
    for (const Item& item : op.forward) {
      const auto* launch = std::get_if<Launch>(&item);
      if (launch != nullptr && launch->name == "softmax")
        return std::get<MemoryBound>(launch->work).bytes.bytes();
    }
    return 0.0;
  };
  const double scores = 2 * b * 4 * 64 * 64;
  CHECK(softmax(attention_of("false", "unfused")) == 2 * scores);
  CHECK(softmax(attention_of("true", "unfused")) == 1.5 * scores);
}

TEST_CASE("gradients that GEMMs do not accumulate are added by kernels of their own") {
  const auto summed = [](const std::string& training, const std::string& parallelism) {
    const OpGraph graph = graph_of("{name: m, layers: 1, hidden: 256, heads: 4, vocabulary: 1000}",
                                   training, parallelism);
    double bytes = 0;
    for (const Op* op : block_named(graph, "layer").order()) {
      for (const Item& item : op->backward) {
        const auto* launch = std::get_if<Launch>(&item);
        if (launch != nullptr && launch->name.ends_with("gradient sum"))
          bytes += std::get<MemoryBound>(launch->work).bytes.bytes();
      }
    }
    return bytes;
  };
  const std::string base = "sequence_length: 64, fused_accumulation: ";
  // Eight replicas have one micro-batch of the sixteen sequences, two have four.
  CHECK(summed(base + "true", "tensor: 4") == 0);
  CHECK(summed(base + "false", "") == 0);
  // The products of a layer have 12 h^2 weights; 2 B are read, 2 or 4 B read and written.
  const double weights = 12.0 * 256 * 256 / 4;
  CHECK(summed(base + "false", "tensor: 4") == 6 * weights);
  CHECK(summed(base + "false, gradients: fp32", "tensor: 4") == 10 * weights);
}

TEST_CASE("what is done to the gradients of each micro-batch passes over all weights") {
  // An element kept in fp32 is cast from 16 bits, scaled back, searched, and passes a norm and a
  // product.
  const auto each = [](const std::string& style) {
    const std::string base = "sequence_length: 64, fused_accumulation: false, gradients: fp32";
    const auto bytes = [&](const std::string& more) {
      const OpGraph graph =
          graph_of("{name: m, layers: 1, hidden: 256, heads: 4, vocabulary: 1000}", base + more,
                   "tensor: 4");
      double sum = 0;
      for (const Op* op : block_named(graph, "layer").order()) {
        for (const Item& item : op->backward) {
          const auto* launch = std::get_if<Launch>(&item);
          const auto* moved = launch == nullptr ? nullptr : std::get_if<MemoryBound>(&launch->work);
          if (moved != nullptr) sum += moved->bytes.bytes();
        }
      }
      return sum;
    };
    return (bytes(", fusion: " + style) - bytes("")) / (12.0 * 256 * 256 / 4);
  };
  CHECK(each("fused-all") == 6 + 8 + 6 + 4 + 8 + 2);  // the sum reads 4, not 2
  CHECK(each("fused-unscale") == 6 + 8 + 2);
  CHECK(each("fused-clip") == 6 + 4 + 8 + 2);
}

TEST_CASE("the gradient of a table that the head shares is passed over once") {
  const auto clipped = [](const char* tied) {
    const OpGraph graph =
        graph_of(fmt::format("{{name: m, layers: 1, hidden: 256, heads: 4, vocabulary: 1000, "
                             "tied_embeddings: {}}}",
                             tied),
                 "sequence_length: 64, fused_accumulation: false, fusion: fused-clip", "tensor: 4");
    double bytes = 0;
    for (const char* block : {"embedding", "head"}) {
      for (const Op* op : block_named(graph, block).order()) {
        for (const Item& item : op->backward) {
          const auto* launch = std::get_if<Launch>(&item);
          if (launch != nullptr && launch->name.ends_with("gradient clip"))
            bytes += std::get<MemoryBound>(launch->work).bytes.bytes();
        }
      }
    }
    return bytes;
  };
  const double table = 2 * 2 * (1024.0 / 4) * 256;  // padded to 1024 rows, read and written
  CHECK(clipped("true") == table);
  CHECK(clipped("false") == 2 * table);
}

TEST_CASE("parts in fp32 move twice the bytes, and casts of six bytes an element besides") {
  // In an encoder's layer with dropout, tokens x width elements have 2 bytes, and masks one.
  const double all = b * 64 * 256;
  const auto bytes_of = [](const std::string& style) {
    const OpGraph graph =
        graph_of("{name: m, layers: 1, hidden: 256, heads: 4, vocabulary: 1000, causal: false}",
                 "sequence_length: 64, attention: eager, fusion: " + style);
    std::map<std::string, double> sums;
    for (const Op* op : block_named(graph, "layer").order()) {
      for (const Items* items : {&op->forward, &op->backward}) {
        for (const Item& item : *items) {
          const auto* launch = std::get_if<Launch>(&item);
          const auto* moved = launch == nullptr ? nullptr : std::get_if<MemoryBound>(&launch->work);
          if (moved != nullptr) sums[op->name] += moved->bytes.bytes();
        }
      }
    }
    return sums;
  };
  const auto narrow = bytes_of("none");
  const auto wide = bytes_of("eager-wide");
  const auto added = [&](const char* op) { return wide.at(op) - narrow.at(op); };
  // Read and written forward, read twice and written backward; four casts of 4 h wide tensors.
  CHECK(added("activation") == (2 * 5 + 4 * 6) * 4 * all);
  // The sum; the branch is cast to it, and its gradient back.
  CHECK(added("mlp residual") == (2 * 3 + 2 * 6) * all);
  // 2 forward, 3 and 2 backward, and 3 of the residual's gradient; the output and its gradient.
  CHECK(added("mlp norm") == (2 * 10 + 2 * 6) * all);
  const double scores = b * 4 * 64 * 64;
  CHECK(added("attention") == (2 * 5 + 4 * 6) * scores);
  CHECK(bytes_of("eager-wide-norms").at("mlp norm") - narrow.at("mlp norm") ==
        (2 * 10 + 4 * 6) * all);
}

TEST_CASE("what is composed has a kernel for each elementary operation, which moves its tensors") {
  struct Moved {
    double bytes = 0;
    int kernels = 0;
  };
  const double all = 2 * b * 64 * 256;  // elements of 2 bytes
  const auto moved = [](const std::string& style) {
    const OpGraph graph =
        graph_of("{name: m, layers: 1, hidden: 256, heads: 4, vocabulary: 1000, causal: false}",
                 "sequence_length: 64, attention: eager, fusion: " + style);
    std::map<std::string, Moved> sums;
    for (const Op* op : block_named(graph, "layer").order()) {
      for (const Items* items : {&op->forward, &op->backward}) {
        for (const Item& item : *items) {
          const auto* launch = std::get_if<Launch>(&item);
          const auto* bytes = launch == nullptr ? nullptr : std::get_if<MemoryBound>(&launch->work);
          if (bytes == nullptr) continue;
          sums[op->name].bytes += bytes->bytes.bytes();
          ++sums[op->name].kernels;
        }
      }
    }
    return sums;
  };
  const auto one = moved("none");
  const auto many = moved("eager-composed");
  const auto kernels = [&](const char* op) { return many.at(op).kernels - one.at(op).kernels; };
  const auto tensors = [&](const char* op, double tensor) {
    return (many.at(op).bytes - one.at(op).bytes) / tensor;
  };
  // GELU: 18 tensors forward and 26 backward by 8 and 10 kernels, instead of 2 and 3 by one each.
  CHECK(kernels("activation") == 8 + 10 - 2);
  CHECK(tensors("activation", 4 * all) == doctest::Approx(18 + 26 - 5));
  // A norm: 15 and 41 by 8 and 20, those of a number a row left out, instead of 2 and 5 by three.
  CHECK(kernels("mlp norm") == 8 + 20 - 3);
  CHECK(tensors("mlp norm", all) == doctest::Approx(15 + 41 - 7));
  // Dropout: numbers of 4 bytes, a byte each as compared, and the mask as a tensor; five tensors
  // forward and backward, instead of four and the mask of a byte.
  const double dropped = (4 + 5 + 3 + 2 * 10 - 2 * 4 - 2) / 2.0;
  CHECK(kernels("mlp residual") == 5 + 2 - 2);
  CHECK(tensors("mlp residual", all) == doctest::Approx(dropped));
  // Softmax: 4 and 9 by 3 and 4, instead of 2 and 3.
  const double scores = 2 * b * 4 * 64 * 64;
  CHECK(kernels("attention") == 5 + 2 - 2 + 3 + 4 - 2);
  CHECK(tensors("attention", scores) == doctest::Approx(dropped + 4 + 9 - 5));
}

TEST_CASE("eager attention moves heads to the front and back, and scales and masks the scores") {
  const auto attention_of = [](const char* kernel) {
    const OpGraph graph =
        graph_of("{name: m, layers: 1, hidden: 256, heads: 4, vocabulary: 1000, causal: false}",
                 fmt::format("sequence_length: 64, attention: {}", kernel));
    return op_named(block_named(graph, "layer"), "attention");
  };
  const auto bytes = [](const Items& items) {
    double sum = 0;
    for (const Item& item : items) {
      const auto* launch = std::get_if<Launch>(&item);
      const auto* moved = launch == nullptr ? nullptr : std::get_if<MemoryBound>(&launch->work);
      if (moved != nullptr) sum += moved->bytes.bytes();
    }
    return sum;
  };
  const Op eager = attention_of("eager");
  const Op unfused = attention_of("unfused");
  const double tensor = 2 * b * 64 * 256;
  const double scores = 2 * b * 4 * 64 * 64;
  // Unfused attention moves the result, too, and scales the gradients of queries and keys.
  CHECK(bytes(eager.forward) - bytes(unfused.forward) == 2 * 3 * tensor + 2 * 2 * scores);
  CHECK(bytes(eager.backward) - bytes(unfused.backward) == 2 * (1 - 2) * tensor + 2 * scores);
  CHECK(kernel_flops(eager.forward) == kernel_flops(unfused.forward));
  CHECK(eager.forward.size() == unfused.forward.size() + 5);
  CHECK(eager.backward.size() == unfused.backward.size());
}

TEST_CASE("only BERT's masked tokens reach the vocabulary, all of them where all are predicted") {
  const auto logits = [](const char* predicted) {
    const OpGraph graph =
        graph_of(fmt::format("{{base: bert-base, masked: {{predicted: {}}}}}", predicted),
                 "sequence_length: 512");
    return op_named(block_named(graph, "head"), "logits").flops.flops();
  };
  CHECK(logits("1") == 2 * b * 512 * 768 * 30522);
  CHECK(logits("15.625 %") == 2 * b * 80 * 768 * 30522);
}
