// Kernels around experts: how many an expert, a router and a permutation launch, what each moves,
// and the small exchanges beside those of the rows.
//
// 2,048 tokens of 1,024 numbers, two of 16 experts each, dealt to eight ranks: 4,096 rows come to
// the two experts of a rank, which are 512 wide, gated.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/scenario/expert_mesh.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kTokens = 2048, kRows = 2 * kTokens, kWidth = 1024;

std::string experts(const std::string& split, const std::string& training = "precision: bf16") {
  return fmt::format(
      "cluster: {{base: dgx-b200, nodes: 1}}\n"
      "model: {{name: m, layers: 2, hidden: 1024, heads: 16, vocabulary: 32000, gated_mlp: true, "
      "experts: {{count: 16, top_k: 2, ffn: 512}}}}\n"
      "training: {{sequence_length: 2048, global_batch: 8, {}}}\n"
      "parallelism: {{expert: {{degree: 8{}}}}}\n",
      training, split);
}

/// What the first layer of experts starts, launches and moves in both directions.
struct Layer {
  explicit Layer(const std::string& yaml) : graph(build(scenario_of(yaml))) {
    for (const Op* op : graph.blocks[1].order()) {
      for (const Items* both : {&op->forward, &op->backward})
        items.insert(items.end(), both->begin(), both->end());
    }
  }
  std::vector<Launch> launches(const std::string& name) const {
    std::vector<Launch> found;
    for (const Item& item : items) {
      const auto* launch = std::get_if<Launch>(&item);
      if (launch != nullptr && launch->name == name) found.push_back(*launch);
    }
    return found;
  }
  double exchanged(CollectiveOp op, Axis axis) const {
    double bytes = 0;
    for (const Item& item : items) {
      const auto* start = std::get_if<StartCollective>(&item);
      if (start != nullptr && start->op == op && start->axis == axis) bytes += start->bytes.bytes();
    }
    return bytes;
  }
  OpGraph graph;
  Items items;
};

const MemoryBound& bytes_of(const Launch& launch) { return std::get<MemoryBound>(launch.work); }

constexpr const char* kEngine = "transformer_impl: transformer_engine, precision: ";

}  // namespace

TEST_CASE("a row goes out and comes back in both directions, its probability once in each") {
  const Layer layer(experts(""));
  const double rows = 4 * kRows * kWidth * 2, probabilities = 2 * kRows * 4;
  CHECK(layer.exchanged(CollectiveOp::all_to_all, Axis::expert) ==
        nine_digits(rows + probabilities));
  // Eight ranks tell each other how many of 16 experts' rows they send, in 8 B each.
  CHECK(layer.exchanged(CollectiveOp::all_gather, Axis::expert) == nine_digits(8 * 16 * 8));
}

TEST_CASE("fixed numbers of rows are told to nobody, and DeepEP takes probabilities along") {
  CHECK(Layer(experts(", capacity: 1")).exchanged(CollectiveOp::all_gather, Axis::expert) == 0);
  const Layer deep(experts(", dispatcher: deepep"));
  // Two of 16 experts are on 2 - 1/15 of eight ranks with two each.
  const double ranks = 2 - 1.0 / 15;
  CHECK(deep.exchanged(CollectiveOp::all_to_all, Axis::expert) ==
        nine_digits(4 * kTokens * ranks * kWidth * 2));
  CHECK(deep.exchanged(CollectiveOp::all_gather, Axis::expert) == 0);
}

TEST_CASE("Transformer Engine has a product and a cast for each expert of a rank") {
  const Layer each(experts("", std::string(kEngine) + "fp8, fp8_scaling: mxfp8"));
  // An algorithm is asked for before the second product (33.4 us), and five tensors are wrapped
  // (12.25 us).
  for (const char* product :
       {"experts up", "experts down", "experts up dgrad", "experts up wgrad"}) {
    CAPTURE(product);
    REQUIRE(each.launches(product).size() == 1);
    CHECK(each.launches(product)[0].more_launches.seconds() == nine_digits(45.65e-6));
  }
  REQUIRE(each.launches("experts up cast").size() == 1);
  const Launch cast = each.launches("experts up cast")[0];
  CHECK(bytes_of(cast).parts == 2);
  // A launch, and what holds the second expert's rows.
  CHECK(cast.more_launches.seconds() == nine_digits(5e-6 + 19.6e-6));
  const Layer current(experts("", std::string(kEngine) + "fp8, fp8_scaling: current"));
  // Three kernels: the largest value, its scale, the cast.
  CHECK(current.launches("experts up cast amax")[0].more_launches.seconds() == nine_digits(5e-6));
  CHECK(current.launches("experts up cast")[0].more_launches.seconds() == nine_digits(24.6e-6));
  // Two kernels of half of the bytes each.
  const GpuProfile& gpu = scenario_of(experts("")).cluster.gpu;
  MemoryBound half = bytes_of(cast);
  half.bytes = half.bytes / 2.0;
  half.parts = 1;
  CHECK(kernel_time(bytes_of(cast), gpu).seconds() ==
        nine_digits(2 * kernel_time(half, gpu).seconds()));
}

TEST_CASE(
    "one kernel does it with grouped tensors, without Transformer Engine, and with delayed "
    "scaling") {
  const std::string mx = std::string(kEngine) + "fp8, fp8_scaling: mxfp8";
  const Layer grouped(experts(", grouped_kernel: true", mx));
  CHECK(grouped.launches("experts up")[0].more_launches.seconds() == 0);
  CHECK(bytes_of(grouped.launches("experts up cast")[0]).parts == 1);
  const Layer local(experts("", "precision: fp8"));
  CHECK(local.launches("experts up")[0].more_launches.seconds() == 0);
  const Layer delayed(experts("", std::string(kEngine) + "fp8, fp8_scaling: delayed"));
  CHECK(bytes_of(delayed.launches("experts up cast")[0]).parts == 1);
}

TEST_CASE("rows are copied to multiples and back, but where the router or the dispatcher pads") {
  const std::string mx = std::string(kEngine) + "fp8, fp8_scaling: mxfp8";
  const auto padded = [](const Layer& layer) {
    double bytes = 0;
    for (const char* name : {"pad rows", "unpad rows", "pad gradients", "unpad gradients"})
      for (const Launch& launch : layer.launches(name)) bytes += bytes_of(launch).bytes.bytes();
    return bytes;
  };
  CHECK(padded(Layer(experts("", mx))) == nine_digits(4 * 2 * kRows * kWidth * 2));
  CHECK(padded(Layer(experts(", router_padding: true", mx))) == 0);
  CHECK(padded(Layer(experts(", dispatcher: hybrid_ep", mx))) == 0);
  CHECK(padded(Layer(experts("", std::string(kEngine) + "bf16"))) == 0);
}

TEST_CASE("PyTorch's indexing moves the same rows in 1.6 and in 11.1 times the time") {
  const Layer fused(experts("")), indexed(experts(", permute_fusion: false"));
  const GpuProfile& gpu = scenario_of(experts("")).cluster.gpu;
  const double bytes = (kTokens + kRows) * kWidth * 2;
  struct Moved {
    const char* name;
    double slower;
  };
  for (const Moved& moved : {Moved{"permute", 1.6},
                             {"unpermute", 11.1},
                             {"permute backward", 11.1},
                             {"unpermute backward", 1.6}}) {
    CAPTURE(moved.name);
    const MemoryBound made = bytes_of(fused.launches(moved.name)[0]);
    const MemoryBound by_index = bytes_of(indexed.launches(moved.name)[0]);
    CHECK(made.bytes.bytes() == nine_digits(bytes));
    MemoryBound longer = made;
    longer.bytes = made.bytes * moved.slower;
    CHECK(kernel_time(by_index, gpu).seconds() == nine_digits(kernel_time(longer, gpu).seconds()));
  }
  // The host splits 16 x 8 / 8 chunks of a rank's rows off, and joins them: 1.2 us each.
  CHECK(indexed.launches("sort by expert")[0].more_launches.seconds() == nine_digits(16 * 1.2e-6));
}

TEST_CASE("the busiest rank follows from how much experts' loads vary, whatever the ranks") {
  // The mean of the larger of two normal draws is 1 / sqrt(pi).
  const double m2 = 1 / std::sqrt(std::acos(-1.0));
  const auto busiest = [](int degree, double variation) {
    Scenario scenario = scenario_of(experts(fmt::format(", load_variation: {}", variation)));
    scenario.parallelism.expert.degree = degree;
    return imbalance_of(scenario);
  };
  CHECK(busiest(2, 0.4) == nine_digits(1 + 0.4 / std::sqrt(8) * std::sqrt(16.0 / 15) * m2));
  CHECK(busiest(1, 0.4) == 1);
  CHECK(busiest(2, 50) == 2);  // at most all rows
  // More ranks have fewer experts each, whose loads cancel less.
  CHECK(busiest(16, 0.4) > busiest(8, 0.4));
  const Layer even(experts("")), uneven(experts(", load_variation: 0.4"));
  const auto rows = [](const Layer& layer) {
    return bytes_of(layer.launches("sort by expert")[0]).bytes.bytes();
  };
  CHECK(rows(uneven) == nine_digits(busiest(8, 0.4) * rows(even)));
}

TEST_CASE("a router of PyTorch launches 23 kernels more forward and 10 more backward") {
  const Layer plain(experts(", router_fusion: false"));
  CHECK(plain.launches("routing").size() == 23);
  CHECK(plain.launches("routing backward").size() == 10);
  CHECK(Layer(experts("")).launches("routing").empty());
  // Logits of 2,048 tokens and 16 experts are read and written in fp32.
  CHECK(bytes_of(plain.launches("routing")[0]).bytes.bytes() == nine_digits(2 * 4 * kTokens * 16));
}

TEST_CASE("the host copies four counts, and waits three times more behind DeepEP's exchange") {
  const auto reads = [](const std::string& split) {
    const Layer layer(experts(split));
    return std::ranges::count_if(
        layer.items, [](const Item& item) { return std::holds_alternative<HostRead>(item); });
  };
  CHECK(Layer(experts("")).launches("counts to the host").size() == 4);
  CHECK(Layer(experts(", dispatcher: deepep")).launches("counts to the host").empty());
  CHECK(reads("") == 1);
  CHECK(reads(", dispatcher: deepep") == 1 + 3);
  CHECK(reads(", dispatcher: hybrid_ep") == 1);
  // Other frameworks have layers of their own.
  const Layer other("framework: pytorch-fsdp2\n" +
                    experts(", dispatcher: deepep", kEngine + std::string("bf16")));
  CHECK(std::ranges::count_if(other.items, [](const Item& item) {
          return std::holds_alternative<HostRead>(item);
        }) == 1);
}

TEST_CASE("clamps of experts are operators of PyTorch, and their shift waits for the host") {
  const auto layer = [](const std::string& split, const std::string& more = "") {
    std::string yaml = experts(split, std::string(kEngine) + "bf16");
    const std::string end = "ffn: 512}";
    return Layer(more + yaml.replace(yaml.find(end), end.size(), "ffn: 512, clamp: 7}"));
  };
  const auto moved = [](const Layer& of, const std::string& name) {
    double bytes = 0;
    for (const Launch& launch : of.launches(name)) bytes += bytes_of(launch).bytes.bytes();
    return bytes;
  };
  const auto reads = [](const Layer& of) {
    return std::ranges::count_if(
        of.items, [](const Item& item) { return std::holds_alternative<HostRead>(item); });
  };
  const double one = 2 * kRows * 512;
  // As operators of Megatron-LM's weighted_bias_quick_geglu_impl read and write them in PyTorch
  // 1.13: a clamp of each half and both joined; backward comparisons, choices and both joined.
  const Layer megatrons = layer("");
  CHECK(moved(megatrons, "experts activation clamp") == nine_digits(8 * one));
  CHECK(moved(megatrons, "experts activation clamp backward") == nine_digits(15 * one));
  CHECK(reads(megatrons) == 1 + 1);
  // What is computed again waits again.
  const Block& block = megatrons.graph.blocks[1];
  const auto region =
      std::ranges::find(block.regions, RecomputeModule::moe_act, &RecomputeRegion::module);
  REQUIRE(region != block.regions.end());
  CHECK(std::ranges::count_if(region->forward, [](const Item& item) {
          return std::holds_alternative<HostRead>(item);
        }) == 1);
  CHECK(region->dropped.bytes() == nine_digits(3 * one));
  // Transformer Engine's fused MLP has them in its kernels, and so has a compiler.
  const Layer fused = layer(", grouped_kernel: true, dispatcher: hybrid_ep, host_waits: false");
  CHECK(moved(fused, "experts activation clamp") == 0);
  CHECK(reads(fused) == 0);
  // Elsewhere each operation is a kernel: forward clamps, slope, product and shift; backward those of
  // the clamps, both of the product, slope and sum.
  const Layer other = layer("", "framework: pytorch-fsdp2\n");
  CHECK(moved(other, "experts activation clamp") == nine_digits((2 + 2 + 2 + 3 + 2) * one));
  CHECK(moved(other, "experts activation clamp backward") ==
        nine_digits((11 + 3 + 3 + 2 + 3) * one));
  CHECK(reads(other) == 1);
  // Kept are both halves before they are clamped; elsewhere gate, sigmoid and what is shifted.
  const auto kept = [](const Layer& of) {
    const std::vector<const Op*> ops = of.graph.blocks[1].order();
    return (*std::ranges::find(ops, "experts", &Op::name))->saved.bytes();
  };
  const Layer plain(experts("", std::string(kEngine) + "bf16"));
  const Layer plain_other("framework: pytorch-fsdp2\n" +
                          experts("", std::string(kEngine) + "bf16"));
  CHECK(kept(megatrons) - kept(plain) == nine_digits(2 * one));
  CHECK(kept(other) - kept(plain_other) == nine_digits(3 * one));
}

TEST_CASE("calls of a layer of experts are Megatron-LM's") {
  const auto calls = [](const std::string& split, const char* op) {
    const OpGraph graph = build(scenario_of(experts(split, std::string(kEngine) + "bf16")));
    const std::vector<const Op*> ops = graph.blocks[1].order();
    return (*std::ranges::find(ops, op, &Op::name))->calls;
  };
  // Rows and probabilities are exchanged, between a permutation and a sort.
  CHECK(calls("", "dispatch").functions == 4);
  CHECK(calls("", "combine").functions == 3);
  CHECK(calls(", dispatcher: hybrid_ep", "dispatch").functions == 1);
  CHECK(calls("", "router").functions == 5);
  CHECK(calls(", router_fusion: false", "router").functions == 2);
  CHECK(calls("", "experts").engine_linears == 2);
  // A third each of the layer's; and two experts have a weight more in each module.
  for (const char* op : {"router", "dispatch", "experts"}) CHECK(calls("", op).engine_parts == 1);
  CHECK(calls("", "combine").engine_parts == 0);
  CHECK(calls("", "experts").engine_weights == 2);
}

TEST_CASE("what is computed again makes its own calls") {
  const OpGraph graph = build(scenario_of(experts("", std::string(kEngine) + "bf16")));
  const Block& layer = graph.blocks[1];
  const auto again = [&](RecomputeModule module) {
    const auto region = std::ranges::find(layer.regions, module, &RecomputeRegion::module);
    REQUIRE(region != layer.regions.end());
    return region->calls;
  };
  // A function around scripted ones, neither products nor weights.
  const HostCalls activation = again(RecomputeModule::moe_act);
  CHECK(activation.functions == 1);
  CHECK(activation.engine_linears + activation.engine_parts + activation.engine_weights == 0);
  // Attention's module without Python of the layer.
  const HostCalls attention = again(RecomputeModule::core_attention);
  CHECK(attention.modules == 3);
  CHECK(attention.layers + attention.engine_layers == 0);
  // All three thirds of a layer of experts.
  CHECK(again(RecomputeModule::moe).engine_parts == 3);
  // The head is Megatron-LM's own.
  for (const Op* op : graph.blocks.back().order()) CHECK(op->calls.engine_linears == 0);
}
