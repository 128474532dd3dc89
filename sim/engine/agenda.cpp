// A heap of dates, and the lists of what happens at them.
#include "sim/engine/agenda.hpp"

#include <algorithm>

namespace stepsim {
namespace {

constexpr std::size_t kChildren = 4;

}  // namespace

void Agenda::add(double date, Event event) {
  ++size_;
  std::uint32_t node = free_node_;
  if (node == kNone) {
    node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({event, kNone});
  } else {
    free_node_ = nodes_[node].next;
    nodes_[node] = {event, kNone};
  }
  if (open_ != kNone && date == open_date_) {
    nodes_[lists_[open_].last].next = node;
    lists_[open_].last = node;
    return;
  }
  if (free_lists_.empty()) {
    open_ = static_cast<std::uint32_t>(lists_.size());
    lists_.push_back({node, node});
  } else {
    open_ = free_lists_.back();
    free_lists_.pop_back();
    lists_[open_] = {node, node};
  }
  open_date_ = date;
  push({date, numbered_++, open_});
}

Event Agenda::take() {
  --size_;
  const std::uint32_t number = heap_.front().list;
  List& list = lists_[number];
  const std::uint32_t node = list.first;
  const Event event = nodes_[node].event;
  list.first = nodes_[node].next;
  nodes_[node].next = free_node_;
  free_node_ = node;
  if (list.first == kNone) {
    free_lists_.push_back(number);
    if (open_ == number) open_ = kNone;
    pop();
  }
  return event;
}

void Agenda::push(const Entry& entry) {
  std::size_t at = heap_.size();
  heap_.push_back(entry);
  while (at > 0) {
    const std::size_t parent = (at - 1) / kChildren;
    if (!(entry < heap_[parent])) break;
    heap_[at] = heap_[parent];
    at = parent;
  }
  heap_[at] = entry;
}

void Agenda::pop() {
  const Entry last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) return;
  std::size_t at = 0;
  while (true) {
    const std::size_t child = kChildren * at + 1;
    if (child >= heap_.size()) break;
    const std::size_t end = std::min(child + kChildren, heap_.size());
    std::size_t least = child;
    for (std::size_t i = child + 1; i < end; ++i) {
      if (heap_[i] < heap_[least]) least = i;
    }
    if (!(heap_[least] < last)) break;
    heap_[at] = heap_[least];
    at = least;
  }
  heap_[at] = last;
}

}  // namespace stepsim
