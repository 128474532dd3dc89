// Experts and contexts: what is computed and sent does not depend on how it is split, and exchanges
// take the time of their bytes.
//
// All-to-all of S bytes a rank over N nodes of k GPUs with q NICs a node (alpha, B in a node; a, C
// between): each rank has S/N for every node, so that a NIC carries (N-1) k S / (N q), and
//   t = max(a + (N-1) k p + (N-1) k S / (N q C), alpha + (k-1)/k S/N / B)
// where p is what the host takes to post to a peer.
// Inside one node it is alpha + (n-1)/n S / B.
//
// With expert.tensor 1 experts are dealt to tensor ranks, too, of which each sends its own tokens:
// S is what one of t ranks has, 1/t of a sequence's.
//
// By DeepEP a token arrives once at each of the r ranks that have experts of it, and crosses to
// each of their n nodes once: with T tokens of w bytes, S = T r w,
//   t = (48 + 46 log2 N) us + max(S n/r (N-1)/N k/q / 0.95 C, (k-1)/k S / 0.87 B)
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/scenario/expert_mesh.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double alpha = 3e-6, B = 0.8 * 200e9;  // inside a node
constexpr double a = 10e-6, C = 0.9 * 25e9;      // between nodes
constexpr double posted = 2.9e-6;                // p

/// Four layers, the first dense; tokens of 1024 16-bit numbers, 2 of 16 experts each.
std::string moe(int nodes, const std::string& parallelism, const std::string& groups = "") {
  return fmt::format(
      "cluster: {{name: c, gpu: a100-80, nodes: {}, gpus_per_node: 8, "
      "intra_node: {{bandwidth: 200 GB/s, efficiency: 0.8, latency: 3 us}}, "
      "inter_node: {{nics_per_node: 4, bandwidth: 25 GB/s, efficiency: 0.9, latency: 10 us}}}}\n"
      "model: {{name: m, layers: 4, hidden: 1024, heads: 16, kv_heads: 8, vocabulary: 32000, "
      "gated_mlp: true, rms_norm: true, bias: false, tied_embeddings: false, dropout: false, "
      "experts: {{count: 16, top_k: 2, ffn: 512, shared_ffn: 256, dense_layers: 1{}}}}}\n"
      "training: {{sequence_length: 2048, global_batch: {}, precision: bf16, attention: flash2, "
      "gradient_clipping: false}}\n"
      "parallelism: {{{}}}\nhost: {{launch: 0 us}}\n",
      nodes, groups, 8 * nodes, parallelism);
}

/// Parameters of all ranks that hold different ones.
double parameters(const OpGraph& graph, int expert_degree) {
  double sum = 0;
  for (const std::size_t index : graph.chain) {
    const double experts = graph.blocks[index].expert_parameters();
    sum += graph.blocks[index].parameters() - experts + experts * expert_degree;
  }
  return sum;
}

const GroupCommunication& traffic(const Metrics& metrics, const std::string& group) {
  return *std::find_if(metrics.communication.begin(), metrics.communication.end(),
                       [&](const auto& c) { return name_of(c.axis) == group; });
}

}  // namespace

TEST_CASE("experts have all their parameters, on however many ranks") {
  for (const int degree : {1, 2, 4, 8, 16}) {
    CAPTURE(degree);
    const Experiment e(moe(2, fmt::format("expert: {{degree: {}}}", degree)));
    CHECK(parameters(e.graph, degree) == nine_digits(e.graph.total_parameters));
    CHECK((e.graph.blocks[2].expert_parameters() > 0) == (degree > 1));
  }
}

TEST_CASE("model FLOPs are those of the tokens and their experts, however they are split") {
  const Experiment whole(moe(2, ""));
  // A token goes through attention, router, two experts and the shared one; backward is twice that.
  const double h = 1024, s = 2048;
  const double attention = 2 * h * (1024 + 2 * 512 + 1024) + 4 * h * s;
  const double sparse = 2 * h * (16 + 3.0 * (2 * 512 + 256));
  const double dense = 2 * h * 3 * 4096;
  const double token = 4 * attention + 3 * sparse + dense + 2 * h * 32000;
  CHECK(whole.graph.model_flops.flops() == nine_digits(3 * token * s * 16));
  for (const char* split : {"expert: {degree: 8}", "expert: {degree: 4, capacity: 1.5}",
                            "context: {degree: 4}", "context: {degree: 2}, expert: {degree: 4}"}) {
    CAPTURE(split);
    const Experiment e(moe(2, split));
    CHECK(e.graph.model_flops.flops() == nine_digits(whole.graph.model_flops.flops()));
  }
}

TEST_CASE("context ranks share out the attention of a sequence") {
  const double whole = fused_attention_flops(build(scenario_of(moe(1, ""))));
  for (const int n : {2, 4, 8}) {
    for (const char* kind : {"ring", "all_gather", "all_to_all"}) {
      CAPTURE(n);
      CAPTURE(kind);
      const auto split = fmt::format("context: {{degree: {}, kind: {}}}", n, kind);
      CHECK(fused_attention_flops(build(scenario_of(moe(1, split)))) == nine_digits(whole / n));
    }
  }
}

TEST_CASE("an all-to-all takes the time of its bytes, in a node and over NICs that ranks share") {
  const double rows = 2048.0 * 2, S = rows * 1024 * 2, P = rows * 4;  // probabilities in fp32
  for (const int N : {1, 2}) {
    const double n = 8.0 * N, k = 8, q = 4;
    const auto expected = [&](double bytes) {
      return N == 1 ? alpha + (n - 1) / n * bytes / B
                    : std::max(a + (N - 1) * (k * posted + k * bytes / (N * q * C)),
                               alpha + (k - 1) / k * bytes / N / B);
    };
    CAPTURE(N);
    const Experiment e(moe(
        N, fmt::format("expert: {{degree: {}, capacity: 1}}, data: {{overlap: false}}", 8 * N)));
    const Metrics metrics = e.metrics();
    // Three layers, to the experts and back, forward and backward; probabilities to the experts,
    // and their gradients back.
    CHECK(traffic(metrics, "expert").busy.seconds() ==
          nine_digits(12 * expected(S) + 6 * expected(P)));
    CHECK(traffic(metrics, "expert").bytes.bytes() == nine_digits(12 * S + 6 * P));
  }
}

TEST_CASE(
    "experts with a mesh of their own are on tensor ranks, too, which send their own tokens") {
  for (const int t : {1, 2, 4}) {
    CAPTURE(t);
    const double N = 2, k = 8, q = 4, rows = 2048.0 / t * 2, S = rows * 1024 * 2, P = rows * 4;
    const auto expected = [&](double bytes) {
      return std::max(a + (N - 1) * (k * posted + k * bytes / (N * q * C)),
                      alpha + (k - 1) / k * bytes / N / B);
    };
    const Experiment e(moe(2, fmt::format("tensor: {}, sequence: {}, data: {{overlap: false}}, "
                                          "expert: {{degree: 16, tensor: 1, capacity: 1}}",
                                          t, t > 1)));
    const Metrics metrics = e.metrics();
    // t micro-batches of one sequence for each of 16 / t replicas
    CHECK(traffic(metrics, "expert").busy.seconds() ==
          nine_digits(t * (12 * expected(S) + 6 * expected(P))));
    CHECK(traffic(metrics, "expert").bytes.bytes() == nine_digits(t * (12 * S + 6 * P)));
    const Experiment whole(moe(2, fmt::format("tensor: {}, sequence: {}", t, t > 1)));
    CHECK(e.graph.model_flops.flops() == nine_digits(whole.graph.model_flops.flops()));
  }
}

TEST_CASE("a mesh of experts is numbered as all ranks of a stage are") {
  using Ranks = std::vector<int>;
  const auto holders = [](const std::string& split) {
    return expert_holders(scenario_of(moe(2, split)), 0);
  };
  // Eight of sixteen ranks have all experts: the first eight, where ep comes before dp.
  const auto near = holders("tensor: 2, sequence: true, expert: {degree: 8, tensor: 1}");
  CHECK(near[0][0] == Ranks{0, 8});
  CHECK(near[0][7] == Ranks{7, 15});
  const auto far =
      holders("order: tp-cp-dp-ep-pp, tensor: 2, sequence: true, expert: {degree: 8, tensor: 1}");
  CHECK(far[0][0] == Ranks{0, 1});
  CHECK(far[0][7] == Ranks{14, 15});
  // Two ranks share each expert, where four share the other layers.
  const auto shared = holders("tensor: 4, sequence: true, expert: {degree: 4, tensor: 2}");
  CHECK(shared[0][0] == Ranks{0, 8});
  CHECK(shared[1][0] == Ranks{1, 9});
  CHECK(shared[0][1] == Ranks{2, 10});
  // Each expert on the tensor ranks: those of one index have all of them.
  const auto plain = holders("tensor: 2, sequence: true, expert: {degree: 4}");
  CHECK(plain[0][0] == Ranks{0, 8});
  CHECK(plain[1][3] == Ranks{7, 15});
}

TEST_CASE("ranks that share an expert gather its rows, and scatter what comes of them") {
  // Four tensor ranks, of which two share an expert: each gathers the rows of both.
  const Experiment e(moe(1, "tensor: 4, sequence: true, expert: {degree: 4, tensor: 2}"));
  const Metrics metrics = e.metrics();
  const double rows = 2048.0 / 4 * 2 * 2;  // tokens, experts, ranks
  // Two replicas have four sequences each: three layers, there and back, forward and backward.
  CHECK(traffic(metrics, "expert_tensor").bytes.bytes() == nine_digits(4 * 12 * rows * 1024 * 2));
  double all = 0;
  for (const std::size_t index : e.graph.chain) {
    const Block& block = e.graph.blocks[index];
    const double experts = block.expert_parameters();
    if (experts > 0) all += 8 * experts;
  }
  CHECK(all == nine_digits(3.0 * 16 * 3 * 1024 * 512));
}

TEST_CASE("by DeepEP a token reaches each rank and crosses to each node once") {
  const double T = 2048, w = 2 * 1024, N = 2, k = 8, q = 4;
  // Two of 16 experts, one on each of 16 ranks: never on the same. On another node than the first
  // are 8 of the other 15. Both are in one group where one alone is chosen, which a node has.
  struct Routes {
    const char* groups;
    double r, n;
  };
  for (const Routes& routes :
       {Routes{"", 2, 1 + 8.0 / 15}, Routes{", groups: 2, top_groups: 1", 2, 1},
        Routes{", groups: 2", 2, 1 + 8.0 / 15}, Routes{", groups: 4, top_groups: 1", 2, 1}}) {
    CAPTURE(routes.groups);
    const auto seconds = [&](double bytes) {
      const double S = T * routes.r * bytes;
      return 94e-6 + std::max(S * routes.n / routes.r * (N - 1) / N * k / q / (0.95 * C),
                              (k - 1) / k * S / (0.87 * B));
    };
    const auto split = [&](const char* more) {
      return moe(
          2,
          fmt::format("expert: {{degree: 16, dispatcher: deepep, sms: 100{}}}, data: {{overlap: "
                      "false}}",
                      more),
          routes.groups);
    };
    const Metrics metrics = Experiment(split("")).metrics();
    CHECK(traffic(metrics, "expert").busy.seconds() == nine_digits(12 * seconds(w)));
    CHECK(traffic(metrics, "expert").bytes.bytes() == nine_digits(12 * T * routes.r * w));
    // Half of the exchanges go to experts: in fp8 with a scale of 4 B for each 128 numbers.
    const double narrow = w / 2 * (1 + 4.0 / 128);
    const Metrics fp8 = Experiment(split(", fp8_dispatch: true")).metrics();
    CHECK(traffic(fp8, "expert").busy.seconds() == nine_digits(6 * (seconds(w) + seconds(narrow))));
  }
}

// On eight ranks each exchange has (k-1)/k S / min(0.87 B, (k-1)/k SMs x rate of an SM) behind 48 us.
TEST_CASE("few SMs slow DeepEP's and HybridEP's exchanges inside a node") {
  const double T = 2048, w = 2 * 1024, k = 8, remote = (k - 1) / k, r = 2 - 1.0 / 15;
  const auto busy = [](const char* dispatcher) {
    return traffic(Experiment(moe(1, fmt::format("expert: {{degree: 8, dispatcher: {}}}, "
                                                 "data: {{overlap: false}}",
                                                 dispatcher)))
                       .metrics(),
                   "expert")
        .busy.seconds();
  };
  const auto seconds = [&](double rate) { return 12 * (48e-6 + remote * T * r * w / rate); };
  CHECK(busy("deepep") == nine_digits(seconds(0.87 * B)));
  CHECK(busy("deepep, sms: 4") == nine_digits(seconds(remote * 4 * 19.5e9)));
  // Each of three layers gathers a byte for a token and an expert of 16 from all ranks, by a ring.
  const double map = 3 * ((k - 1) * alpha + remote * k * T * 16 / B);
  CHECK(busy("hybrid_ep") == nine_digits(map + seconds(0.87 * B)));
  CHECK(busy("hybrid_ep, sms: 2") == nine_digits(map + seconds(remote * 2 * 49e9)));
}

// Each rank gets the tokens of all eight, and its choices of 16 experts with 5 B each; outputs of
// all tokens are summed on the way back. Twice each in a forward and a backward pass of three
// layers; a backward pass gathers what forward was summed, and the other way round.
TEST_CASE("an all-gather of tokens carries those of all ranks") {
  const double T = 2048, w = 2 * 1024, ranks = 8, choices = 5 * 16;
  const Experiment e(moe(1, "expert: {degree: 8, dispatcher: all_gather}"));
  CHECK(traffic(e.metrics(), "expert").bytes.bytes() ==
        nine_digits(3 * ranks * T * (4 * w + 2 * choices)));
}

// Eight ranks have two of 16 experts each. Two experts of a token are on the same rank with
// probability 1/15, or 1/7 where a group of four ranks is chosen first, and always where the group
// is a rank's.
TEST_CASE("groups that a router chooses decide how many ranks a token reaches") {
  const double T = 2048, w = 2 * 1024;
  const auto bytes = [](const char* groups) {
    const Experiment e(moe(1, "expert: {degree: 8, dispatcher: deepep}", groups));
    return traffic(e.metrics(), "expert").bytes.bytes();
  };
  CHECK(bytes("") == nine_digits(12 * T * w * (2 - 1.0 / 15)));
  CHECK(bytes(", groups: 2, top_groups: 1") == nine_digits(12 * T * w * (2 - 1.0 / 7)));
  CHECK(bytes(", groups: 8, top_groups: 1") == nine_digits(12 * T * w));
}

namespace {

/// Bytes of the kernels of that name in a layer with experts on eight ranks, forward and backward.
double moved(const Scenario& scenario, const std::string& name) {
  const OpGraph graph = build(scenario);
  double bytes = 0;
  for (const Op* op : graph.blocks[2].order()) {
    for (const Items* items : {&op->forward, &op->backward}) {
      for (const Item& item : *items) {
        const auto* launch = std::get_if<Launch>(&item);
        if (launch == nullptr || launch->name != name) continue;
        bytes += std::get<MemoryBound>(launch->work).bytes.bytes();
      }
    }
  }
  return bytes;
}

Scenario dispatched(const char* more, Precision precision) {
  Scenario scenario = scenario_of(moe(1, fmt::format("expert: {{degree: 8{}}}", more)));
  scenario.training.precision = precision;
  return scenario;
}

}  // namespace

// 2 x 2048 rows of 1024 numbers arrive at a rank, by DeepEP and by NCCL; the experts are 512 wide.
// In fp8 with their scales they are 1 + 4/128 B a number, by columns 1 B.
TEST_CASE("rows that come in fp8 are not quantised again, but turned for weight gradients") {
  const double rows = 2 * 2048, sent = 1 + 4.0 / 128, width = 1024, ffn = 512;
  for (const char* dispatcher : {"", ", dispatcher: deepep"}) {
    CAPTURE(dispatcher);
    const Scenario wide = dispatched(dispatcher, Precision::fp8);
    CHECK(moved(wide, "experts up cast") == nine_digits(4 * rows * width));
    CHECK(moved(wide, "experts down gradient cast") == nine_digits(4 * rows * width));
    Scenario narrow = wide;
    narrow.parallelism.expert.fp8_dispatch = true;
    for (const char* name : {"experts up", "experts down gradient"}) {
      CHECK(moved(narrow, std::string(name) + " cast") == 0);
      CHECK(moved(narrow, std::string(name) + " transpose") ==
            nine_digits((sent + 1) * rows * width));
    }
    CHECK(moved(narrow, "experts down cast") == nine_digits(4 * rows * ffn));
    CHECK(moved(narrow, "cast behind dispatch") == 0);
    // Where products take tensors either way there is nothing left to do.
    narrow.cluster.gpu.architecture = Architecture::blackwell;
    CHECK(moved(narrow, "experts up transpose") == 0);
  }
}

TEST_CASE(
    "rows that come in fp8 are widened for experts in 16 bits, and their gradients likewise") {
  const double rows = 2 * 2048, sent = 1 + 4.0 / 128, width = 1024;
  const Scenario narrow = dispatched(", dispatcher: deepep, fp8_dispatch: true", Precision::bf16);
  CHECK(moved(narrow, "cast behind dispatch") == nine_digits(2 * (sent + 2) * rows * width));
  CHECK(moved(dispatched(", dispatcher: deepep", Precision::bf16), "cast behind dispatch") == 0);
}

TEST_CASE("rows are permuted and sorted as they are sent") {
  const double tokens = 2048, rows = 2 * tokens, sent = 1 + 4.0 / 128, width = 1024;
  const Scenario narrow = dispatched(", fp8_dispatch: true", Precision::bf16);
  CHECK(moved(narrow, "permute") == nine_digits(sent * width * (tokens + rows)));
  CHECK(moved(narrow, "permute backward") == nine_digits(2 * width * (tokens + rows)));
  CHECK(moved(narrow, "sort by expert") == nine_digits(2 * 2 * sent * width * rows));
  CHECK(moved(narrow, "sort by rank") == nine_digits(2 * 2 * 2 * width * rows));
}

TEST_CASE("kernels leave to an exchange the SMs that are set aside for it") {
  const auto reserved = [](const char* split) {
    const Experiment e(moe(1, split));
    const Task* found = nullptr;
    for (const Task& task : e.plan.program(0).tasks) {
      if (task.kind == TaskKind::communicate && task.channel == channel_along(Axis::expert))
        found = &task;
    }
    REQUIRE(found != nullptr);
    const Operation& operation = e.plan.operations[found->work];
    return std::pair(operation.held_sms, operation.reserved_sms);
  };
  const double sms = 108;  // SMs of an A100
  CHECK(reserved("expert: {degree: 8, dispatcher: deepep}") == std::pair(0.0, 20 / sms));
  CHECK(reserved("expert: {degree: 8, dispatcher: deepep, sms: 24}") == std::pair(0.0, 24 / sms));
  CHECK(reserved("expert: {degree: 8, sms: 8}") == std::pair(0.0, 8 / sms));
  CHECK(reserved("expert: {degree: 8}").second == 0);
  CHECK(reserved("expert: {degree: 8}").first > 0);
}

TEST_CASE("a capacity pads every expert alike, and the busiest rank sets the pace without one") {
  const auto bytes = [](const char* split) {
    return traffic(Experiment(moe(1, split)).metrics(), "expert").bytes.bytes();
  };
  // Without a capacity eight ranks gather 16 numbers of 8 B each in three layers.
  const double counts = 3 * 8 * 16 * 8;
  const double fair = bytes("expert: {degree: 8}") - counts;
  CHECK(bytes("expert: {degree: 8, capacity: 1}") == nine_digits(fair));
  CHECK(bytes("expert: {degree: 8, capacity: 1.5}") == nine_digits(1.5 * fair));
  CHECK(bytes("expert: {degree: 8, imbalance: 2}") == nine_digits(2 * fair + counts));
}

TEST_CASE("a ring passes on keys and values n-1 times forward, with their gradients backward") {
  const double kv = 2048.0 / 8 * 2 * 512 * 2;  // tokens of a rank, two tensors, width, bytes
  const Experiment e(moe(1, "context: {degree: 8}"));
  // n-1 blocks forward; backward one block, n-2 with gradients, one of gradients; 8 micro-batches.
  const double each = 7 * kv + (1 + 6 * 2 + 1) * kv;
  CHECK(traffic(e.metrics(), "context").bytes.bytes() == nine_digits(8 * 4 * each));
}

TEST_CASE("gradients of experts are reduced over the ranks that hold them") {
  const Experiment e(moe(2, "expert: {degree: 8}, data: {overlap: false}"));
  const auto group = [&](Channel channel) {
    return e.plan
        .groups[static_cast<std::size_t>(e.plan.group_of[0][static_cast<std::size_t>(channel)])];
  };
  CHECK(group(channel_along(Axis::expert)).ranks == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(group(Channel::expert_data).ranks == std::vector<int>{0, 8});
  CHECK(group(Channel::data).ranks.size() == 16);
  const double experts = 3 * 2 * 3.0 * 1024 * 512;  // three layers, two experts a rank
  const double dense = e.graph.total_parameters - 8 * experts;
  const Metrics metrics = e.metrics();
  CHECK(traffic(metrics, "data").bytes.bytes() == nine_digits(2 * (experts + dense)));
}

TEST_CASE("exchanges that follow each other are all exposed where nothing hides them") {
  // Rows go to their expert's ranks, then to its tensor ranks, and back: no kernel between the two
  // exchanges, yet the second waits for the first.
  const Experiment e(moe(1,
                         "tensor: 2, sequence: true, overlap_tensor: false, expert: {degree: 4}, "
                         "data: {overlap: false}"));
  const Metrics metrics = e.metrics();
  CHECK(traffic(metrics, "expert").exposed.seconds() ==
        nine_digits(traffic(metrics, "expert").busy.seconds()));
  CHECK(traffic(metrics, "tensor").exposed.seconds() ==
        nine_digits(traffic(metrics, "tensor").busy.seconds()));
}

TEST_CASE("the two halves of a split backward do the work of the whole, experts included") {
  const auto seconds = [](const char* schedule) {
    const Experiment e(moe(1, fmt::format("expert: {{degree: 4}}, pipeline: {{stages: 2, "
                                          "layers: [2, 2], schedule: {}}}",
                                          schedule)));
    return e.metrics().breakdown[static_cast<std::size_t>(Cause::backward)];
  };
  CHECK(seconds("zb-h1") == nine_digits(seconds("1f1b")));
}

TEST_CASE("the split is named whole") {
  CHECK(Experiment(moe(2, "")).metrics().split ==
        "tensor 1 x pipeline 1 x data 16, 1 micro-batch of 1");
  CHECK(Experiment(moe(2,
                       "tensor: 2, sequence: true, context: {degree: 2}, expert: {degree: 2}, "
                       "data: {sharding: zero1, shard_degree: 2}"))
            .metrics()
            .split ==
        "tensor 2 x context 2 x pipeline 1 x data 4, experts over 2, shards over 2, "
        "4 micro-batches of 1");
}

TEST_CASE("equal parts are sorted by one copy, unequal ones row by row") {
  for (const bool padded : {true, false}) {
    CAPTURE(padded);
    const OpGraph graph = build(
        scenario_of(moe(1, padded ? "expert: {degree: 4, capacity: 1}" : "expert: {degree: 4}")));
    int sorts = 0;
    for (const Block& block : graph.blocks) {
      for (const Op* op : block.order()) {
        for (const Item& item : op->forward) {
          const auto* launch = std::get_if<Launch>(&item);
          if (launch == nullptr || !launch->name.starts_with("sort by")) continue;
          CHECK(std::get<MemoryBound>(launch->work).rate ==
                (padded ? MemoryRate::elementwise : MemoryRate::permute));
          ++sorts;
        }
      }
    }
    CHECK(sorts == 2);
  }
}
