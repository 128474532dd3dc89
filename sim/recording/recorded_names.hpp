// Names of a recording's events while a reader gathers them: each is kept once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stepsim {

class RecordedNames {
 public:
  std::uint32_t index_of(std::string_view name) {
    const auto found = index_.find(std::string(name));
    if (found != index_.end()) return found->second;
    const auto index = static_cast<std::uint32_t>(texts_.size());
    texts_.emplace_back(name);
    index_.emplace(texts_.back(), index);
    return index;
  }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

}  // namespace stepsim
