// A binary heap of dates.
#include "sim/engine/agenda.hpp"

#include <algorithm>
#include <utility>

namespace stepsim {

void Agenda::add(double date, Callback callback) {
  if (open_ == kNone || date != open_date_) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(batches_.size()));
      batches_.emplace_back();
    }
    open_ = free_.back();
    open_date_ = date;
    free_.pop_back();
    entries_.push_back({date, numbered_++, open_});
    std::ranges::push_heap(entries_, IsAfter{});
  }
  batches_[open_].push_back(std::move(callback));
}

Agenda::Callback Agenda::take() {
  if (begun_ == kNone) {
    std::ranges::pop_heap(entries_, IsAfter{});
    begun_ = entries_.back().batch;
    begun_date_ = entries_.back().date;
    taken_ = 0;
    entries_.pop_back();
    if (begun_ == open_) open_ = kNone;
  }
  std::vector<Callback>& batch = batches_[begun_];
  Callback callback = std::move(batch[taken_++]);
  if (taken_ == batch.size()) {
    batch.clear();
    free_.push_back(begun_);
    begun_ = kNone;
  }
  return callback;
}

}  // namespace stepsim
