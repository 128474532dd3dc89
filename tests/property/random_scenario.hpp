// Random small scenarios, as text that a user could write; a seed gives the same ones everywhere.
//
// The standard's engines are the same on every platform, its distributions are not: numbers are
// picked here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {

class Picker {
 public:
  explicit Picker(std::uint64_t seed) : engine_(seed) {}

  int between(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool flip() { return between(0, 1) == 1; }
  std::string one_of(const std::vector<std::string>& words) {
    return words[static_cast<std::size_t>(between(0, static_cast<int>(words.size()) - 1))];
  }
  int divisor_of(int number, int limit) {
    std::vector<int> divisors;
    for (int d = 1; d <= std::min(number, limit); ++d) {
      if (number % d == 0) divisors.push_back(d);
    }
    return divisors[static_cast<std::size_t>(between(0, static_cast<int>(divisors.size()) - 1))];
  }
  void shuffle(std::vector<std::string>& words) {
    for (std::size_t i = words.size(); i > 1; --i)
      std::swap(words[i - 1], words[static_cast<std::size_t>(between(0, static_cast<int>(i) - 1))]);
  }

 private:
  std::mt19937_64 engine_;
};

/// `contention` false: no two transfers ever meet on a link that cannot carry both, and collectives
/// take neither SMs nor memory bandwidth from kernels.
class RandomScenario {
 public:
  RandomScenario(std::uint64_t seed, bool contention)
      : pick_(seed),
        pick_split_(seed + 1'000'000),
        pick_order_(seed + 2'000'000),
        pick_stack_(seed + 3'000'000),
        pick_lora_(seed + 4'000'000),
        pick_sync_(seed + 8'000'000),
        contention_(contention) {
    pick_split();
    text_ = cluster() + model() + training() + parallelism() + data() + host();
    text_ += "run: {steps: 2, warmup: 1}\n";
  }

  const std::string& text() const { return text_; }
  Scenario scenario() const {
    return parse_scenario(text_, "random.yaml", Library{{source_folder()}});
  }
  /// The plan of scenario(), or of a changed one.
  Plan plan(const Scenario& scenario) const {
    Plan plan = make_plan(scenario, build(scenario));
    if (contention_) return plan;
    for (Operation& operation : plan.operations)
      operation.held_sms = operation.reserved_sms = operation.memory_share = 0;
    // What moves inside a node keeps its own rate, and never meets anything else on its links.
    for (LinkId link = 0; link < plan.network.links().size(); ++link) {
      if (plan.network.name_of(link).find(" gpu ") != std::string::npos)
        plan.network.set_bandwidth(link, BytesPerSecond{1e14});
    }
    return plan;
  }

 private:
  void pick_split() {
    nodes_ = pick_.between(1, 8);
    gpus_ = pick_.between(1, 8);
    mlp_ = pick_.between(0, 3) == 0;
    stack_ = mlp_ ? "" : pick_stack_.one_of({"gpt", "gpt", "gpt", "bert", "vit", "t5"});
    // encoder and decoder: one stage, dense, each rank with whole sequences
    const bool both = stack_ == "t5";
    const int total = nodes_ * gpus_;
    const bool apart = contention_ || nodes_ == 1;  // anything goes: it contends, or shares nothing
    tensor_ = mlp_ ? 1 : apart ? pick_.divisor_of(total, 8) : pick_.divisor_of(gpus_, 8);
    stages_ = apart ? pick_.divisor_of(total / tensor_, 8) : 1;
    if (both) stages_ = 1;
    const bool splits_more = apart && !mlp_ && !both && stack_ != "vit";
    context_ = splits_more && pick_split_.flip()
                   ? pick_split_.divisor_of(total / tensor_ / stages_, 4)
                   : 1;
    data_ = total / tensor_ / stages_ / context_;
    experts_ = !mlp_ && pick_split_.flip() && !both && stack_ != "vit";
    lora_ = stack_ == "gpt" && !experts_ && pick_lora_.flip();
    expert_ = splits_more && experts_ ? pick_split_.divisor_of(data_ * context_, 8) : 1;
    if (apart) pick_order_.shuffle(order_);
    chunks_ = stages_ > 1 && pick_.flip() ? pick_.between(2, 3) : 1;
    micro_batches_ = chunks_ > 1 ? stages_ * pick_.between(1, 2) : pick_.between(1, 6);
    layers_ = stages_ * chunks_ * pick_.between(1, 2);
    gpu_ = pick_.one_of({"a100-80", "h100", "v100"});
    if (context_ > 1 && gpu_ == "v100") gpu_ = "a100-80";  // which has fused attention
  }

  std::string cluster() {
    const bool fat_tree = pick_.flip();
    const bool measured = pick_.flip();
    const int nics = contention_ ? pick_.divisor_of(gpus_, 8) : gpus_;
    const double oversubscribed = contention_ ? pick_.between(2, 8) / 2.0 : 1.0;
    const auto leaf = [&](int nodes) {
      return nodes == 0
                 ? ""
                 : fmt::format(", nodes_per_leaf: {}, oversubscription: {}", nodes, oversubscribed);
    };
    return fmt::format(
        "cluster:\n  name: random\n  gpu: {}\n  nodes: {}\n  gpus_per_node: {}\n"
        "  intra_node: {}\n"
        "  inter_node: {{topology: {}, nics_per_node: {}, bandwidth: {} Gbit/s, efficiency: 0.95, "
        "latency: {} us{}}}\n",
        gpu_, nodes_, gpus_,
        measured ? "nvlink3"
                 : fmt::format("{{bandwidth: {} GB/s, efficiency: 0.8, latency: {} us}}",
                               pick_.between(25, 400), pick_.between(1, 9)),
        fat_tree ? "fat_tree" : "rail", nics, pick_.between(10, 400), pick_.between(1, 20),
        leaf(fat_tree ? pick_.between(0, 4) : 0));
  }

  std::string model() {
    if (mlp_) {
      return fmt::format("model: {{name: m, kind: mlp, layers: {}, width: {}, bias: {}}}\n",
                         layers_, 128 * pick_.between(1, 16), pick_.flip());
    }
    const int heads = tensor_ * context_ * pick_.between(1, 3);
    const int vocabulary = 1000 * pick_.between(1, 40);
    return fmt::format(
        "model:\n  {{name: t, layers: {}, hidden: {}, heads: {}, gated_mlp: {}, "
        "tied_embeddings: {}{}{}{}}}\n",
        layers_, 128 * heads, heads, pick_.flip(), pick_.flip() && !(lora_ && stages_ > 1),
        experts(), latent_attention(), ends(vocabulary));
  }

  /// What stands around the layers.
  std::string ends(int vocabulary) {
    if (stack_ == "vit") {
      return fmt::format(", vision: {{image: {}, patch: 16, classes: {}}}",
                         16 * pick_stack_.between(4, 14), pick_stack_.between(2, 1000));
    }
    std::string text = fmt::format(", vocabulary: {}", vocabulary);
    if (stack_ == "bert") {
      text += fmt::format(", token_types: 2, post_norm: {}, masked: {{predicted: {}}}",
                          pick_stack_.flip(), pick_stack_.flip() ? 1.0 : 0.15);
    }
    if (stack_ == "t5") {
      text += fmt::format(", encoder_layers: {}, relative_positions: {}, rms_norm: true",
                          pick_stack_.between(1, 4), pick_stack_.flip() ? 32 : 0);
    }
    return text;
  }

  std::string experts() {
    if (!experts_) return "";
    const int count = expert_ * pick_split_.between(3, 5);
    return fmt::format(
        ", experts: {{count: {}, top_k: {}, ffn: {}, shared_ffn: {}, "
        "dense_layers: {}}}",
        count, pick_split_.between(1, 2), tensor_ * 64 * pick_split_.between(1, 8),
        tensor_ * 64 * pick_split_.between(0, 4), pick_split_.between(0, layers_ - 1));
  }

  std::string latent_attention() {
    if (!pick_split_.flip() || stack_ == "t5") return "";
    const int query_rank = pick_split_.flip() ? 0 : 192;
    if (lora_) return "";
    return fmt::format(
        ", mla: {{query_rank: {}, kv_rank: 128, nope_dim: 64, rope_dim: 32, "
        "value_dim: 64}}",
        query_rank);
  }

  std::string training() {
    const int micro_batch = pick_.between(1, 4);
    std::string text = fmt::format(
        "training:\n  global_batch: {}\n  micro_batch: {}\n  precision: {}\n  gradients: {}\n"
        "  optimizer: {}\n  gradient_clipping: {}\n",
        micro_batch * micro_batches_ * data_, micro_batch, gpu_ == "v100" ? "fp16" : "bf16",
        pick_.one_of({"fp32", "fp16"}), pick_.one_of({"sgd", "adam"}), pick_.flip());
    if (mlp_) return text + fmt::format("  recompute: {}\n", pick_.one_of({"none", "full"}));
    const int length = 128 * tensor_ * context_ * pick_.between(1, 4);
    if (stack_ != "vit") text += fmt::format("  sequence_length: {}\n", length);
    if (stack_ == "t5" && pick_stack_.flip()) {
      text +=
          fmt::format("  decoder_sequence_length: {}\n", 64 * tensor_ * pick_stack_.between(1, 4));
    }
    text += fmt::format("  fusion: {}\n", pick_stack_.one_of({"none", "fused", "compiled"}));
    return text +
           fmt::format("  recompute: {}\n  attention: {}\n",
                       pick_.one_of({"none", "selective", "full"}), attention()) +
           lora();
  }

  /// Adapters of some of the layers that can have them.
  std::string lora() {
    if (!lora_) return "";
    const bool apart = tensor_ == 1 && pick_lora_.flip();
    std::vector<std::string> targets{"linear_proj", "linear_fc1", "linear_fc2"};
    for (const char* one : {"linear_q", "linear_k", "linear_v"}) {
      if (apart) targets.emplace_back(one);
    }
    if (!apart) targets.emplace_back("linear_qkv");
    pick_lora_.shuffle(targets);
    targets.resize(
        static_cast<std::size_t>(pick_lora_.between(1, static_cast<int>(targets.size()))));
    const int rank = tensor_ * pick_lora_.between(1, 16);
    return fmt::format("  fused_qkv: {}\n  lora: {{rank: {}, target_modules: [{}], dropout: {}}}\n",
                       !apart, rank, fmt::join(targets, ", "), pick_lora_.flip());
  }

  std::string attention() {
    const bool unfused = gpu_ == "v100" || stack_ == "t5";  // a bias on the scores
    const std::string kernel = unfused ? "unfused" : pick_.one_of({"unfused", "flash2"});
    return context_ > 1 ? "flash2" : kernel;
  }

  std::string expert_split() {
    if (!experts_) return "";
    const char* dropless = expert_ > 1 ? "imbalance: 1.5" : "imbalance: 1";
    return fmt::format("  expert: {{degree: {}, {}}}\n", expert_,
                       pick_split_.flip() ? "capacity: 1.25" : dropless);
  }

  /// Some data ranks share a copy of what is sharded, all experts among them.
  std::string shard_groups(const std::string& sharding) {
    const int degree = pick_order_.divisor_of(data_, 8);
    const bool fits = degree > 1 && degree * context_ % expert_ == 0;
    const bool apart = contention_ || nodes_ == 1;
    return sharding != "ddp" && apart && fits ? fmt::format(", shard_degree: {}", degree) : "";
  }

  std::string parallelism() {
    const std::string sharding = pick_.one_of(shardings());
    std::string text = fmt::format(
        "parallelism:\n  order: {}\n  tensor: {}\n  sequence: {}\n  overlap_tensor: {}\n"
        "  context: {{degree: {}, kind: {}}}\n{}"
        "  pipeline: {{stages: {}, schedule: {}, chunks: {}, overlap_p2p: {}, scatter_gather: "
        "{}}}\n"
        "  data: {{sharding: {}{}, bucket: {} MiB, overlap: {}}}\n"
        "collectives: {{all_reduce: {}, all_gather: {}}}\n",
        fmt::join(order_, "-"), tensor_,
        tensor_ > 1 && stack_ != "vit" && (pick_.flip() || experts_), pick_.flip(), context_,
        pick_split_.one_of({"ring", "all_gather", "all_to_all"}), expert_split(), stages_,
        chunks_ > 1 ? "interleaved" : pick_.one_of({"1f1b", "gpipe"}), chunks_, pick_.flip(),
        pick_.flip(), sharding, shard_groups(sharding), pick_.between(1, 30), pick_.flip(),
        pick_.one_of({"auto", "ring", "tree"}), pick_.one_of({"auto", "ring"}));
    const std::string behind = "overlap_p2p: false";
    const std::size_t at = text.find(behind);
    if (at != std::string::npos && pick_sync_.flip())
      text.insert(at + behind.size(), ", batch_p2p_sync: true");
    return text;
  }

  /// Gathers and reductions of ZeRO 2 and 3 meet on the NICs.
  std::vector<std::string> shardings() const {
    std::vector<std::string> names{"ddp", "zero1"};
    const bool apart = contention_ || nodes_ == 1;
    if (apart && (stages_ == 1 || chunks_ > 1)) names.emplace_back("zero2");
    if (apart && stages_ == 1) names.emplace_back("zero3");
    return names;
  }

  std::string data() {
    if (pick_.flip()) return "";
    const int workers = pick_.between(0, 3);
    std::string text = fmt::format("data:\n  sample_size: {} KB\n  workers: {}\n  prefetch: {}\n",
                                   100.0 * pick_.between(1, 50), workers, pick_.between(1, 3));
    text +=
        fmt::format("  decode: {} us\n  pinned: {}\n", 100 * pick_.between(0, 90), pick_.flip());
    const int bandwidth = pick_.between(1, 40);
    const bool alone = gpus_ == 1 && workers < 2;
    if (!contention_ && !alone) return text;
    return text +
           fmt::format("  storage: {{bandwidth: {} GB/s, latency: 100 us}}\n", bandwidth / 10.0);
  }

  std::string host() {
    return fmt::format("host: {{launch: {} us, mode: {}}}\n", pick_.between(1, 20),
                       pick_.one_of({"eager", "graph"}));
  }

  Picker pick_;
  Picker
      pick_split_;  ///< experts, contexts and attention, which leave the other choices as they are
  Picker pick_order_;
  Picker pick_stack_;  ///< encoders and decoders, likewise
  Picker pick_lora_;   ///< adapters, likewise
  Picker pick_sync_;   ///< hosts that wait for transfers, likewise
  bool contention_;
  std::vector<std::string> order_ = {"tp", "cp", "ep", "dp", "pp"};
  int nodes_ = 1, gpus_ = 1, tensor_ = 1, stages_ = 1, data_ = 1;
  int context_ = 1, expert_ = 1;
  int chunks_ = 1, micro_batches_ = 1, layers_ = 1;
  bool mlp_ = false, experts_ = false, lora_ = false;
  std::string stack_;  ///< gpt, bert, vit or t5; none: an MLP
  std::string gpu_, text_;
};

}  // namespace stepsim
