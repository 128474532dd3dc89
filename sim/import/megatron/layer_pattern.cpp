// Recursive descent over: pattern = product {"+" product}; product = item {"*" number};
// item = "[" bit {"," bit} "]" | "(" pattern ")".
#include "sim/import/megatron/layer_pattern.hpp"

#include <cctype>
#include <cstddef>
#include <string>

namespace stepsim {
namespace {

constexpr std::size_t kMostLayers = 10'000;

using Layers = std::vector<int>;

class PatternParser {
 public:
  explicit PatternParser(std::string_view text) {
    for (const char c : text) {
      if (c != ' ') text_ += c;
    }
  }

  std::optional<Layers> parse() {
    auto layers = pattern();
    if (at_ != text_.size()) return std::nullopt;
    return layers;
  }

 private:
  bool eat(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<std::size_t> number() {
    std::size_t value = 0;
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 &&
           value <= kMostLayers)
      value = value * 10 + static_cast<std::size_t>(text_[at_++] - '0');
    if (at_ == begin || value > kMostLayers) return std::nullopt;
    return value;
  }

  std::optional<Layers> pattern() {
    auto sum = product();
    while (sum && eat('+')) {
      const auto more = product();
      if (!more || sum->size() + more->size() > kMostLayers) return std::nullopt;
      sum->insert(sum->end(), more->begin(), more->end());
    }
    return sum;
  }

  std::optional<Layers> product() {
    auto layers = item();
    while (layers && eat('*')) {
      const auto times = number();
      if (!times || layers->size() * *times > kMostLayers) return std::nullopt;
      Layers repeated;
      for (std::size_t i = 0; i < *times; ++i)
        repeated.insert(repeated.end(), layers->begin(), layers->end());
      layers = std::move(repeated);
    }
    return layers;
  }

  std::optional<Layers> item() {
    if (eat('(')) {
      if (++depth_ > kDeepest) return std::nullopt;
      auto inner = pattern();
      --depth_;
      return eat(')') ? inner : std::nullopt;
    }
    if (!eat('[')) return std::nullopt;
    Layers layers;
    do {
      const auto bit = number();
      if (!bit || *bit > 1) return std::nullopt;
      layers.push_back(static_cast<int>(*bit));
    } while (eat(','));
    return eat(']') ? std::optional(layers) : std::nullopt;
  }

  static constexpr int kDeepest = 32;
  std::string text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::vector<int>> layer_pattern(std::string_view text) {
  return PatternParser(text).parse();
}

}  // namespace stepsim
