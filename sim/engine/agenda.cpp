// A binary heap of dates.
#include "sim/engine/agenda.hpp"

#include <algorithm>
#include <utility>

namespace stepsim {

void Agenda::add(double date, Callback callback) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot] = std::move(callback);
  entries_.push_back({date, additions_++, slot});
  std::push_heap(entries_.begin(), entries_.end(), IsAfter{});
}

Agenda::Callback Agenda::take() {
  std::pop_heap(entries_.begin(), entries_.end(), IsAfter{});
  const std::uint32_t slot = entries_.back().slot;
  entries_.pop_back();
  free_.push_back(slot);
  return std::move(slots_[slot]);
}

}  // namespace stepsim
