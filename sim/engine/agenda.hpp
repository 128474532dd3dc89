// What is to happen when: callbacks in order of their dates.
//
// A heap of small entries; the callbacks stay where they are until they are taken. One that
// captures no more than two words costs no allocation.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace stepsim {

class Agenda {
 public:
  using Callback = std::function<void(double date)>;

  void add(double date, Callback callback);
  bool empty() const { return entries_.empty(); }
  /// The earliest date; infinity where there is none.
  double next() const { return entries_.empty() ? INFINITY : entries_.front().date; }
  /// Takes what is to happen then; of equal dates what was added first. REQUIRES: not empty.
  Callback take();

 private:
  struct Entry {
    double date;
    std::uint64_t number;  // of the additions
    std::uint32_t slot;
  };
  struct IsAfter {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.date != b.date ? a.date > b.date : a.number > b.number;
    }
  };

  std::vector<Entry> entries_;  // a heap, the earliest in front
  std::vector<Callback> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t additions_ = 0;
};

}  // namespace stepsim
