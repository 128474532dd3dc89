// The parallel dimensions: what the work of a step is split by, and what each of them is called.
//
// A dimension is one row of a table. From its row follow its word in `parallelism.order`, the name
// of its groups in operations of passes and on the rows of a rank, the cause of waiting for it, and
// its line in reports. sim/plan/group/members.cpp says which ranks are in its groups.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace stepsim {

/// In the order of reports. Operations of a pass communicate along the axes before `data`, and a
/// rank has one group for each of them. Gradients (`data`) and stages (`pipeline`) have several.
enum class Axis : std::uint8_t {
  tensor,         ///< ranks that share each layer
  context,        ///< ranks that share each sequence
  expert,         ///< ranks that share the experts of a layer
  expert_tensor,  ///< ranks that share each expert, where they are not the tensor ones
  tables,         ///< ranks that share a model's embedding tables; data ranks
  data,           ///< ranks that have other samples and the same parameters
  pipeline,       ///< ranks that have other layers
  count_
};
inline constexpr std::size_t kAxes = static_cast<std::size_t>(Axis::count_);
inline constexpr std::size_t kPassAxes = static_cast<std::size_t>(Axis::data);

struct AxisWords {
  const char* name;   ///< name of its groups, in JSON and text
  const char* order;  ///< in `parallelism.order`; "": it is dealt over ranks that others number
  const char* cause;  ///< cause of waiting for a transfer in flight, as JSON keys spell it
  const char* title;  ///< title of that cause, as a person reads it
  bool in_each_row;   ///< true: every run has CSV columns for it, used or not
};

inline constexpr std::array<AxisWords, kAxes> kAxisWords{{
    {"tensor", "tp", "exposed_tensor", "exposed tensor-parallel communication", true},
    {"context", "cp", "exposed_context", "exposed context-parallel exchanges", false},
    {"expert", "ep", "exposed_expert", "exposed expert-parallel exchanges", false},
    {"expert_tensor", "", "exposed_expert_tensor", "exposed communication within experts", false},
    {"tables", "", "exposed_tables", "exposed exchanges of embeddings", false},
    {"data", "dp", "exposed_data", "exposed data-parallel communication", true},
    {"pipeline", "pp", "exposed_pipeline", "exposed pipeline communication", true},
}};
static_assert(kAxisWords.back().name != nullptr, "an axis has no words");

constexpr const AxisWords& words_of(Axis axis) {
  return kAxisWords[static_cast<std::size_t>(axis)];
}
constexpr const char* name_of(Axis axis) { return words_of(axis).name; }

inline constexpr std::array<Axis, kAxes> kAllAxes = [] {
  std::array<Axis, kAxes> all{};
  for (std::size_t i = 0; i < kAxes; ++i) all[i] = static_cast<Axis>(i);
  return all;
}();

constexpr bool is_in_order(Axis axis) { return *words_of(axis).order != '\0'; }

/// The axes that `parallelism.order` names, in the order that it has by default.
inline constexpr auto kOrderedAxes = [] {
  std::array<Axis, static_cast<std::size_t>(std::ranges::count_if(kAllAxes, is_in_order))>
      ordered{};
  std::copy_if(kAllAxes.begin(), kAllAxes.end(), ordered.begin(), is_in_order);
  return ordered;
}();

}  // namespace stepsim
