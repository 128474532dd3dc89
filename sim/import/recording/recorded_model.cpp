// Reads a model off its operators: how often they are called, and the sizes of their tensors.
#include "sim/import/recording/recorded_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace stepsim {
namespace {

using Sizes = std::vector<std::int64_t>;

/// The size of an argument's dimension; 0 where it has none.
std::int64_t size_of(const RecordedShape& shape, std::size_t argument, std::size_t dimension) {
  if (argument >= shape.sizes.size() || dimension >= shape.sizes[argument].size()) return 0;
  return shape.sizes[argument][dimension];
}
std::size_t dimensions(const RecordedShape& shape, std::size_t argument) {
  return argument < shape.sizes.size() ? shape.sizes[argument].size() : 0;
}

/// Outputs and inputs of a linear layer.
using Linear = std::pair<std::int64_t, std::int64_t>;

class ModelFinder {
 public:
  ModelFinder(const StepCounts& counts, int passes)
      : counts_(counts), passes_(std::max(passes, 1)), shapes_(counts.recording().shapes) {
    const std::vector<double> calls = counts.forward_shapes();
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const auto of_pass = std::llround(calls[i] / passes_);
      if (of_pass > 0) per_pass_.emplace_back(&shapes_[i], of_pass);
    }
  }

  RecordedModel found() {
    count_operators();
    read_embeddings();
    read_attention();
    read_linears();
    read_convolutions();
    decide_kind();
    return model_;
  }

 private:
  std::int64_t calls(std::string_view name) const {
    return std::llround(counts_.forward(name) / passes_);
  }

  template <class Visit>
  void visit(std::string_view name, const Visit& visit) const {
    for (const auto& [shape, times] : per_pass_) {
      if (counts_.recording().names[shape->name] == name) visit(*shape, times);
    }
  }

  /// A layer has one attention and, without an encoder, two norms; one more stands behind them all.
  void count_operators() {
    norms_ = calls("aten::layer_norm");
    model_.convolutions = calls("aten::conv2d");
    attentions_ = calls("aten::scaled_dot_product_attention");
    linears_seen_ = calls("aten::linear");
    has_embedding_ = counts_.forward("aten::embedding") > 0;
    model_.layers = attentions_ > 0 ? attentions_ : norms_ >= 3 ? (norms_ - 1) / 2 : 0;
    if (norms_ > 0) model_.rms_norm = false;
    if (linears_seen_ > 0) model_.dropout = calls("aten::dropout") > 0;
  }

  /// The table of tokens is the largest; one of positions has fewer rows of the same width.
  void read_embeddings() {
    std::map<std::int64_t, std::int64_t> widths;  // by rows
    visit("aten::embedding", [&](const RecordedShape& shape, std::int64_t) {
      widths[size_of(shape, 0, 0)] = size_of(shape, 0, 1);
      if (dimensions(shape, 1) == 2 && size_of(shape, 0, 0) >= widths.rbegin()->first) {
        model_.micro_batch = size_of(shape, 1, 0);
        model_.sequence_length = size_of(shape, 1, 1);
      }
    });
    if (widths.empty()) return;
    model_.vocabulary = widths.rbegin()->first;
    model_.hidden = widths.rbegin()->second;
    if (widths.size() == 2 && widths.begin()->second == model_.hidden)
      model_.positions = widths.begin()->first;
  }

  void read_attention() {
    visit("aten::scaled_dot_product_attention", [&](const RecordedShape& shape, std::int64_t) {
      if (dimensions(shape, 0) != 4) return;
      model_.micro_batch = size_of(shape, 0, 0);
      model_.heads = size_of(shape, 0, 1);
      model_.kv_heads = size_of(shape, 1, 1);
      model_.sequence_length = size_of(shape, 0, 2);
      model_.head_dim = size_of(shape, 0, 3);
    });
    if (model_.heads > 0) return;
    // Scores are the product of queries and keys: a square of tokens for each head.
    visit("aten::bmm", [&](const RecordedShape& shape, std::int64_t) {
      const std::int64_t tokens = size_of(shape, 0, 1);
      const bool is_of_scores = tokens > 0 && size_of(shape, 1, 2) == tokens &&
                                tokens == model_.sequence_length && model_.micro_batch > 0;
      if (!is_of_scores || size_of(shape, 0, 2) >= tokens) return;
      model_.heads = size_of(shape, 0, 0) / model_.micro_batch;
      model_.head_dim = size_of(shape, 0, 2);
    });
  }

  /// Compiled code calls the products without the operator around them.
  std::map<Linear, std::int64_t> linears() {
    std::map<Linear, std::int64_t> found;
    visit("aten::linear", [&](const RecordedShape& shape, std::int64_t times) {
      found[{size_of(shape, 1, 0), size_of(shape, 1, 1)}] += times;
      if (times > 1) has_bias_ |= dimensions(shape, 2) > 0;
      if (model_.micro_batch == 0) model_.micro_batch = size_of(shape, 0, 0);
    });
    if (!found.empty()) return found;
    visit("aten::addmm", [&](const RecordedShape& shape, std::int64_t times) {
      found[{size_of(shape, 2, 1), size_of(shape, 2, 0)}] += times;
      has_bias_ = true;
    });
    visit("aten::mm", [&](const RecordedShape& shape, std::int64_t times) {
      found[{size_of(shape, 1, 1), size_of(shape, 1, 0)}] += times;
    });
    return found;
  }

  /// The MLP ends in the layer with the most inputs for each output of the hidden width.
  void read_linears() {
    const auto linears = this->linears();
    if (linears.empty()) return;
    model_.bias = has_bias_;
    const bool is_square =
        linears.size() == 1 && linears.begin()->first.first == linears.begin()->first.second;
    if (is_square && !has_embedding_) model_.hidden = linears.begin()->first.first;
    if (model_.hidden == 0 || !has_embedding_) return;
    std::int64_t times = 0;
    for (const auto& [linear, of_pass] : linears) {
      if (linear.first != model_.hidden || linear.second <= model_.ffn) continue;
      if (linear.second < model_.hidden && model_.ffn > 0) continue;
      model_.ffn = linear.second;
      times = of_pass;
    }
    if (model_.ffn == 0) return;
    if (model_.layers == 0) model_.layers = times;
    read_kv_heads(linears);
    const auto up = linears.find({model_.ffn, model_.hidden});
    const auto both = linears.find({2 * model_.ffn, model_.hidden});
    model_.gated_mlp = both != linears.end() || (up != linears.end() && up->second >= 2 * times);
  }

  /// Keys and values are often repeated before attention, but their layers are narrow.
  void read_kv_heads(const std::map<Linear, std::int64_t>& linears) {
    if (model_.head_dim == 0) return;
    for (const auto& [linear, of_pass] : linears) {
      const bool is_narrow = linear.first < model_.heads * model_.head_dim;
      if (linear.second == model_.hidden && is_narrow && of_pass == 2 * model_.layers &&
          linear.first % model_.head_dim == 0)
        model_.kv_heads = linear.first / model_.head_dim;
    }
  }

  /// A stage's blocks have one 3x3 convolution each, whose width doubles from stage to stage.
  void read_convolutions() {
    visit("aten::convolution", [&](const RecordedShape& shape, std::int64_t times) {
      if (size_of(shape, 0, 1) == 3) {
        model_.micro_batch = size_of(shape, 0, 0);
        model_.image = size_of(shape, 0, 2);
      }
      if (size_of(shape, 1, 2) != 3) return;
      for (std::size_t stage = 0; stage < 4; ++stage) {
        if (size_of(shape, 1, 0) == 64LL << stage) model_.blocks[stage] += times;
      }
    });
    if (model_.convolutions > 0) {
      visit("aten::linear", [&](const RecordedShape& shape, std::int64_t) {
        model_.classes = size_of(shape, 1, 0);
      });
    }
  }

  void decide_kind() {
    const bool looks_up = counts_.has([](std::string_view name) {
      return name == "aten::embedding_bag" || name.find("embedding_codegen") != name.npos;
    });
    if (looks_up) {
      model_.kind = RecordedKind::dlrm;
    } else if (attentions_ > 0 || has_embedding_ || norms_ > 2) {
      model_.kind = RecordedKind::transformer;
      // Llama's norms are written in single operations, if not in one.
      if (linears_seen_ > 0 && norms_ == 0) model_.rms_norm = true;
    } else if (model_.convolutions > 0) {
      model_.kind = RecordedKind::resnet;
    } else if (linears_seen_ > 0) {
      model_.kind = RecordedKind::mlp;
      model_.layers = linears_seen_;
    }
  }

  const StepCounts& counts_;
  int passes_;
  const std::vector<RecordedShape>& shapes_;
  std::vector<std::pair<const RecordedShape*, std::int64_t>> per_pass_;
  std::int64_t norms_ = 0, attentions_ = 0, linears_seen_ = 0;
  bool has_embedding_ = false, has_bias_ = false;
  RecordedModel model_;
};

}  // namespace

RecordedModel model_in(const StepCounts& counts, int passes) {
  return ModelFinder(counts, passes).found();
}

}  // namespace stepsim
