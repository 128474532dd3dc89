// The library of models, GPUs, links and clusters: every file loads, and its numbers are possible
// ones.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "sim/ops/blocks.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {
namespace {

const Library kLibrary{{source_folder()}};

/// Matrices, biases and norms of a layer's attention.
std::int64_t attention_of(const Transformer& t) {
  const std::int64_t queries = t.heads * t.head_dim;
  const std::int64_t qkv = (t.attention_gate ? 2 : 1) * queries + 2 * t.kv_heads * t.head_dim;
  const std::int64_t biases = (t.bias || t.qkv_bias ? qkv : 0) + (t.bias ? t.hidden : 0);
  return t.hidden * (qkv + queries) + biases + (t.qk_norm ? 2 * t.head_dim : 0) +
         (t.sinks ? t.heads : 0);
}

/// The matrices of arXiv 2405.04434, equations 9 to 19, by their names there, and the two norms.
std::int64_t latent_attention_of(const Transformer& t) {
  const LatentAttention& a = *t.mla;
  const std::int64_t head = t.heads;
  std::int64_t queries = t.hidden * head * (a.nope_dim + a.rope_dim);
  if (a.query_rank > 0) {
    queries = t.hidden * a.query_rank + a.query_rank * head * a.nope_dim  // W^DQ, W^UQ
              + a.query_rank * head * a.rope_dim + a.query_rank;          // W^QR, norm
  }
  const std::int64_t kv = t.hidden * a.kv_rank + a.kv_rank  // W^DKV, norm
                          + t.hidden * a.rope_dim           // W^KR
                          + a.kv_rank * head * a.nope_dim + a.kv_rank * head * a.value_dim;
  return queries + kv + head * a.value_dim * t.hidden;  // W^O
}

/// All MLPs of the model: dense ones, or experts with the router and what they share.
std::int64_t mlps_of(const Transformer& t) {
  const std::int64_t matrices = t.gated_mlp ? 3 : 2;
  const std::int64_t dense = t.hidden * matrices * t.ffn + (t.bias ? t.ffn + t.hidden : 0);
  if (!t.experts) return t.layers * dense;
  const Experts& e = *t.experts;
  const std::int64_t widths = e.count * e.ffn + e.shared_ffn;
  const std::int64_t biases =
      e.bias ? e.count * ((matrices - 1) * e.ffn + t.hidden + 1) : 0;  // and the router's
  return e.dense_layers * dense +
         (t.layers - e.dense_layers) * (t.hidden * (matrices * widths + e.count) + biases);
}

std::int64_t linear(std::int64_t in, std::int64_t out) { return in * out + out; }

/// What stands before the layers and behind them, without norms.
std::int64_t ends_of(const Transformer& t) {
  const std::int64_t h = t.hidden;
  if (t.vision) {
    const Vision& v = *t.vision;
    return linear(v.patch * v.patch * v.channels, h) + h  // patches, class token
           + t.positions * h + linear(h, v.classes);
  }
  const std::int64_t tables =
      (t.tied_embeddings ? 1 : 2) * t.vocabulary + t.positions + t.token_types;
  if (!t.masked) return tables * h;
  return tables * h + linear(h, h) + 2 * h + t.vocabulary  // transform, its norm, logits' bias
         + (t.masked->next_sentence ? linear(h, h) + linear(h, 2) : 0);
}

/// An encoder layer has attention, an MLP and a norm each; a decoder layer of the same model one
/// more attention with its norm. Each stack has its own table of distances and a norm.
std::int64_t parameters_of(const Transformer& t) {
  const std::int64_t attention = t.mla ? latent_attention_of(t) : attention_of(t);
  const std::int64_t norm = t.rms_norm ? t.hidden : 2 * t.hidden;
  const std::int64_t norms = t.sandwich_norm ? 4 : 2;
  std::int64_t sum = t.layers * (attention + norms * norm) + mlps_of(t) + norm + ends_of(t);
  const std::int64_t distances = t.relative_positions * t.heads;
  if (t.encoder_layers == 0) return sum + distances;
  sum += t.layers * (attention + norm) + norm + 2 * distances;
  return sum + t.encoder_layers * (attention + 2 * norm + mlps_of(t) / t.layers);
}

/// What a published count leaves open: nothing when it has more than four digits before the zeros,
/// else half of its last digit.
double slack_of(std::int64_t published) {
  std::int64_t digits = published;
  std::int64_t unit = 1;
  for (; digits % 10 == 0; digits /= 10) unit *= 10;
  if (digits > 9999) return 0;
  return 0.5 * static_cast<double>(unit);
}

/// The bandwidth that each GPU's link must carry when a collective's buffer moves at `rate`:
/// (n-1)/n of it.
double link_share(const CollectiveLine& line, const LinkProfile& link) {
  return line.bandwidth / link.bandwidth * (line.ranks - 1) / line.ranks;
}

}  // namespace

TEST_CASE("every model has the parameters that its authors publish, or says why none are") {
  const auto names = names_in("models", kLibrary);
  REQUIRE(names.size() > 70);
  for (const std::string& name : names) {
    CAPTURE(name);
    const Model model = load_model(name, kLibrary);
    CHECK_FALSE(model.source.empty());
    CHECK((model.published_parameters > 0) == model.unpublished.empty());
    if (model.published_parameters == 0) continue;
    const double count = parameter_count(model);
    const double difference = std::abs(count - static_cast<double>(model.published_parameters));
    CHECK(difference <= slack_of(model.published_parameters));
    const auto* transformer = std::get_if<Transformer>(&model.shape);
    if (transformer != nullptr && !transformer->hybrid && !transformer->tower &&
        !transformer->diffusion)
      CHECK(count == static_cast<double>(parameters_of(*transformer)));
  }
}

TEST_CASE("counts from released weights are met to the digit") {
  // Most of these come from the weights or from the authors' own programs.
  const auto names = names_in("models", kLibrary);
  const auto exact = std::count_if(names.begin(), names.end(), [](const std::string& name) {
    const Model model = load_model(name, kLibrary);
    return model.published_parameters > 0 && slack_of(model.published_parameters) == 0;
  });
  CHECK(exact >= 30);
}

TEST_CASE("counts published to the digit leave no slack") {
  CHECK(slack_of(1'557'611'200) == 0);
  CHECK(slack_of(6'738'415'616) == 0);
  CHECK(slack_of(175'000'000'000) == doctest::Approx(0.5e9));
}

TEST_CASE("a layer of mlp-400x512 has 1 MiB of fp32 gradients") {
  const Mlp mlp = std::get<Mlp>(load_model("mlp-400x512", kLibrary).shape);
  CHECK(mlp.layers == 400);
  CHECK(mlp.width * mlp.width * 4 == 1 << 20);
}

/// Standard deviation over mean of the times that were measured on GPUs of a type.
double measured_spread(const std::string& gpu) {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/gpu_spread.csv");
  std::string line;
  double count = 0, sum = 0, squares = 0;
  while (std::getline(file, line)) {
    if (line.rfind(gpu + ",", 0) != 0) continue;
    const double ms = std::stod(line.substr(line.rfind(',') + 1));
    ++count, sum += ms, squares += ms * ms;
  }
  const double mean = sum / count;
  return std::sqrt(squares / count - mean * mean) / mean;
}

TEST_CASE("the spread of a GPU's speed is that of the times that were measured on many") {
  CHECK(load_gpu("v100", kLibrary).spread ==
        doctest::Approx(measured_spread("v100")).epsilon(2e-3));
  CHECK(load_gpu("a100-80", kLibrary).spread ==
        doctest::Approx(measured_spread("a100")).epsilon(4e-3));
  CHECK(load_gpu("b200", kLibrary).spread ==
        doctest::Approx(measured_spread("b200")).epsilon(4e-3));
}

TEST_CASE("every GPU loads, and no rate exceeds what its datasheet allows") {
  const auto names = names_in("calib/gpus", kLibrary);
  REQUIRE(names.size() >= 6);
  for (const std::string& name : names) {
    CAPTURE(name);
    const GpuProfile gpu = load_gpu(name, kLibrary);
    CHECK(gpu.name == name);
    CHECK(gpu.context + gpu.communicator + gpu.workspace < gpu.memory);
    CHECK(gpu.copy_pageable < gpu.copy_pinned);
    const MemoryProfile& m = gpu.memory_kernels;
    for (const auto rate :
         {m.elementwise, m.norm, m.softmax, m.dropout, m.loss, m.optimizer, m.permute}) {
      CHECK(rate < gpu.memory_bandwidth);
    }
    FlopsPerSecond half_precision;
    for (const GemmProfile& gemm : gpu.gemm) {
      CHECK(gemm.sustained >= 1);
      if (gemm.precision == Precision::fp16) half_precision = gemm.peak;
    }
    for (const AttentionProfile& attention : gpu.attention) {
      CHECK(attention.plateau < half_precision);
      CHECK(attention.full_plateau < half_precision);
      CHECK(attention.full_half_sequence <= attention.half_sequence);
    }
  }
}

TEST_CASE("A100 TF32 is like bf16 at half the peak, and the 40 GB card differs in memory alone") {
  const GpuProfile large = load_gpu("a100-80", kLibrary);
  const GpuProfile small = load_gpu("a100-40", kLibrary);
  const auto profile = [](const GpuProfile& gpu, Precision precision) {
    return *std::find_if(gpu.gemm.begin(), gpu.gemm.end(),
                         [&](const GemmProfile& g) { return g.precision == precision; });
  };
  CHECK(profile(large, Precision::tf32).peak / profile(large, Precision::bf16).peak ==
        doctest::Approx(0.5));
  CHECK(profile(large, Precision::tf32).efficiency == profile(large, Precision::bf16).efficiency);
  CHECK(profile(small, Precision::bf16).efficiency == profile(large, Precision::bf16).efficiency);
  CHECK(small.memory_bandwidth < large.memory_bandwidth);
}

TEST_CASE("every link loads, and no gather or scatter exceeds the link") {
  const auto names = names_in("calib/links", kLibrary);
  REQUIRE(names.size() >= 4);
  for (const std::string& name : names) {
    CAPTURE(name);
    const LinkProfile link = load_link(name, kLibrary);
    CHECK(link.name == name);
    for (const auto* lines :
         {&link.all_reduce, &link.all_gather, &link.reduce_scatter, &link.all_to_all}) {
      std::set<int> ranks;
      for (const CollectiveLine& line : *lines) {
        ranks.insert(line.ranks);
        CHECK(std::set<std::string>{"ring", "tree", "nvls", "pairwise"}.count(line.algorithm) == 1);
      }
      // Nobody published a table of the export versions.
      if (name == "nvlink3-a800" || name == "nvlink4-h800") {
        CHECK(ranks.empty());
        continue;
      }
      for (const int few : {2, 4, 8}) CHECK(ranks.count(few) == 1);
      REQUIRE_FALSE(ranks.empty());
      CHECK(*ranks.rbegin() == (name == "nvlink5-nvl72" ? 72 : 8));
    }
    // All-reduce may: with NVLink SHARP the switch adds, and a GPU sends its buffer once instead of
    // twice.
    for (const auto* lines : {&link.all_gather, &link.reduce_scatter, &link.all_to_all}) {
      for (const CollectiveLine& line : *lines) CHECK(link_share(line, link) < 1);
    }
  }
}

TEST_CASE("every cluster loads with its GPU, its links and its network") {
  const auto names = names_in("scenarios/clusters", kLibrary);
  REQUIRE(names.size() >= 8);
  for (const std::string& name : names) {
    CAPTURE(name);
    const Cluster cluster = load_cluster(name, kLibrary);
    CHECK(cluster.name == name);
    CHECK(cluster.gpus_per_node == (name.ends_with("nvl72") ? 72 : 8));
    const bool has_table = name != "hgx-a800" && name != "hgx-h800" && name != "pcie-a100";
    CHECK(cluster.intra_node.all_reduce.empty() != has_table);
    REQUIRE(cluster.inter_node.has_value());
    // An adapter of 800 Gbit/s serves two cards, each on a slower slot.
    if (name != "hgx-rtx-pro-6000")
      CHECK(cluster.inter_node->bandwidth < cluster.intra_node.bandwidth);
    CHECK(cluster.gpus_per_node % cluster.inter_node->nics_per_node == 0);
  }
}

}  // namespace stepsim
