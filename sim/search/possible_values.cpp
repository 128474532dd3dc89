// Degrees against those that divide.
#include "sim/search/possible_values.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/ranges.h>

#include "sim/scenario/describe/framework_abilities.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

/// People do not read more than these.
constexpr std::size_t kNamed = 16;

template <class Value>
void add(std::string& text, const char* axis, const std::vector<Value>& whole,
         const std::vector<Value>& restricted) {
  const bool has_one = std::ranges::any_of(restricted, [&](const Value& value) {
    return std::ranges::find(whole, value) != whole.end();
  });
  if (has_one || whole.empty()) return;
  const auto named = static_cast<std::ptrdiff_t>(std::min(whole.size(), kNamed));
  text += fmt::format("{}{} can be {}{}", text.empty() ? "" : "; ", axis,
                      fmt::join(whole.begin(), whole.begin() + named, ", "),
                      whole.size() > kNamed ? ", ..." : "");
}

/// How tokens reach experts of other ranks, as far as the framework has it.
std::vector<std::string> dispatchers_of(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const auto& [name, value] : kNames<Dispatcher>) {
    const bool has =
        !scenario.framework ||
        framework_can(*scenario.framework, "parallelism.expert.dispatcher", name, false);
    if (has) names.emplace_back(name);
  }
  return names;
}

}  // namespace

std::string idle_values(const Axes& restricted, const SearchBase& base) {
  const auto& dispatchers = restricted.dispatcher;
  if (dispatchers == std::vector<std::optional<Dispatcher>>{std::nullopt}) return "";
  const auto* transformer = std::get_if<Transformer>(&base.scenario.model.shape);
  if (transformer == nullptr || !transformer->experts)
    return "the model has no experts, to which tokens would be sent";
  if (restricted.expert == std::vector<int>{1})
    return "with expert 1 each rank has all experts, so that no token is sent anywhere";
  const std::vector<std::string> known = dispatchers_of(base.scenario);
  const bool all_known = std::ranges::all_of(dispatchers, [&](const auto& dispatcher) {
    return !dispatcher || std::ranges::find(known, name_of(*dispatcher)) != known.end();
  });
  return all_known ? ""
                   : fmt::format("dispatcher can be {}, with framework {}", fmt::join(known, ", "),
                                 name_of(*base.scenario.framework));
}

std::string possible_values(const Axes& whole, const Axes& restricted) {
  std::string text;
  for (const auto& [axis, values, degree] : kSearchedDegrees)
    add(text, name_of(axis), whole.*values, restricted.*values);
  add(text, "chunks", whole.chunks, restricted.chunks);
  add(text, "micro_batch", whole.micro_batch, restricted.micro_batch);
  return text;
}

}  // namespace stepsim
