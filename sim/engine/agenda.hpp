// What is to happen when: events in order of their dates.
//
// Events that are added in a row for one date share an entry of the heap: ranks of a group go in
// step, and an unfolded run of 1,024 of them spends a third less time.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/engine/event.hpp"

namespace stepsim {

class Agenda {
 public:
  void add(double date, Event event);
  bool empty() const { return heap_.empty(); }
  std::int64_t size() const { return size_; }
  /// The earliest date; infinity where there is none.
  double next() const { return heap_.empty() ? INFINITY : heap_.front().date; }
  /// Takes what is to happen then; of equal dates what was added first. REQUIRES: not empty.
  Event take();

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Entry {
    double date;
    std::uint64_t number;  // entries are counted as they are added
    std::uint32_t list;
    bool operator<(const Entry& other) const {
      return date != other.date ? date < other.date : number < other.number;
    }
  };
  struct List {
    std::uint32_t first, last;  // nodes
  };
  struct Node {
    Event event;
    std::uint32_t next;  // of the list, or of the free ones
  };

  void push(const Entry& entry);
  void pop();

  std::vector<Entry> heap_;  // four children a node, the earliest in front
  std::vector<List> lists_;
  std::vector<std::uint32_t> free_lists_;
  std::vector<Node> nodes_;
  std::uint32_t free_node_ = kNone;
  std::uint32_t open_ = kNone;  // the list that was added to last, if it is not all taken
  double open_date_ = 0;
  std::uint64_t numbered_ = 0;
  std::int64_t size_ = 0;
};

}  // namespace stepsim
