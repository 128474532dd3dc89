// What is to happen when: events in order of their dates.
//
// Events of one date stand in one list, so that the heap has each date once: ranks that are alike
// go in step, and an unfolded run of thousands of them has as few dates as a folded one. A table
// of hashes finds the list of a date.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/engine/event.hpp"

namespace stepsim {

class Agenda {
 public:
  Agenda();
  /// Of equal dates what was added first comes first, also what is added while others of the same
  /// date are taken.
  void add(double date, Event event);
  bool empty() const { return heap_.empty(); }
  std::int64_t size() const { return size_; }
  /// The earliest date; infinity where there is none.
  double next() const { return heap_.empty() ? INFINITY : heap_.front().date; }
  /// Takes what is to happen then. REQUIRES: not empty.
  Event take();

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Dated {
    double date;
    std::uint32_t list;
  };
  struct List {
    std::uint32_t first = kNone, last = kNone;  // nodes
  };
  struct Node {
    Event event;
    std::uint32_t next;
  };

  static std::uint64_t bits(double date) { return std::bit_cast<std::uint64_t>(date); }
  std::size_t home(double date) const {
    // Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4).
    return (bits(date) * 0x9e3779b97f4a7c15ULL) >> shift_;
  }
  void push(Dated dated);
  void pop();
  void enter(Dated dated);
  void erase(double date);
  void grow();

  std::vector<Dated> heap_;  // four children a node, the earliest in front
  std::vector<List> lists_;
  std::vector<std::uint32_t> free_lists_;
  std::vector<Node> nodes_;
  std::uint32_t free_node_ = kNone;  // free nodes are linked
  std::vector<Dated> table_;         // lists by date; kNone: a free place
  int shift_ = 0;
  std::int64_t size_ = 0;
  double last_date_ = NAN;  // the date that was added to last, and its list
  std::uint32_t last_list_ = kNone;
};

}  // namespace stepsim
