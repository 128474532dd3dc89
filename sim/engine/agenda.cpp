// A heap of dates, and the lists of what happens at them.
#include "sim/engine/agenda.hpp"

#include <algorithm>
#include <utility>

namespace stepsim {
namespace {

constexpr std::size_t kChildren = 4;
constexpr int kFirstBits = 6;  // places of the table at first, as a power of two

}  // namespace

Agenda::Agenda() : table_(std::size_t{1} << kFirstBits, Dated{0, kNone}), shift_(64 - kFirstBits) {}

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
  if (date != last_date_ || last_list_ == kNone) {
    last_date_ = date;
    std::size_t place = home(date);
    while (table_[place].list != kNone && table_[place].date != date)
      place = (place + 1) & (table_.size() - 1);
    last_list_ = table_[place].list;
    if (last_list_ == kNone) {
      if (free_lists_.empty()) {
        last_list_ = static_cast<std::uint32_t>(lists_.size());
        lists_.emplace_back();
      } else {
        last_list_ = free_lists_.back();
        free_lists_.pop_back();
      }
      lists_[last_list_] = {node, node};
      enter({date, last_list_});
      push({date, last_list_});
      return;
    }
  }
  List& list = lists_[last_list_];
  nodes_[list.last].next = node;
  list.last = node;
}

Event Agenda::take() {
  --size_;
  const Dated first = heap_.front();
  List& list = lists_[first.list];
  const std::uint32_t node = list.first;
  const Event event = nodes_[node].event;
  list.first = nodes_[node].next;
  nodes_[node].next = free_node_;
  free_node_ = node;
  if (list.first == kNone) {
    erase(first.date);
    free_lists_.push_back(first.list);
    if (last_list_ == first.list) last_list_ = kNone;
    pop();
  }
  return event;
}

void Agenda::push(Dated dated) {
  std::size_t at = heap_.size();
  heap_.push_back(dated);
  while (at > 0) {
    const std::size_t parent = (at - 1) / kChildren;
    if (heap_[parent].date <= dated.date) break;
    heap_[at] = heap_[parent];
    at = parent;
  }
  heap_[at] = dated;
}

void Agenda::pop() {
  const Dated last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) return;
  std::size_t at = 0;
  while (true) {
    const std::size_t child = kChildren * at + 1;
    if (child >= heap_.size()) break;
    const std::size_t end = std::min(child + kChildren, heap_.size());
    std::size_t least = child;
    for (std::size_t i = child + 1; i < end; ++i) {
      if (heap_[i].date < heap_[least].date) least = i;
    }
    if (heap_[least].date >= last.date) break;
    heap_[at] = heap_[least];
    at = least;
  }
  heap_[at] = last;
}

void Agenda::enter(Dated dated) {
  if (2 * (heap_.size() + 1) > table_.size()) grow();
  const std::size_t mask = table_.size() - 1;
  std::size_t place = home(dated.date);
  while (table_[place].list != kNone) place = (place + 1) & mask;
  table_[place] = dated;
}

/// Moves those back that stand behind the free place and could stand in it (Knuth 3, 6.4, R).
void Agenda::erase(double date) {
  const std::size_t mask = table_.size() - 1;
  std::size_t hole = home(date);
  while (table_[hole].date != date || table_[hole].list == kNone) hole = (hole + 1) & mask;
  for (std::size_t place = (hole + 1) & mask; table_[place].list != kNone;
       place = (place + 1) & mask) {
    if (((place - home(table_[place].date)) & mask) < ((place - hole) & mask)) continue;
    table_[hole] = table_[place];
    hole = place;
  }
  table_[hole].list = kNone;
}

void Agenda::grow() {
  std::vector<Dated> old(2 * table_.size(), Dated{0, kNone});
  old.swap(table_);
  --shift_;
  for (const Dated& dated : old) {
    if (dated.list != kNone) {
      std::size_t place = home(dated.date);
      while (table_[place].list != kNone) place = (place + 1) & (table_.size() - 1);
      table_[place] = dated;
    }
  }
}

}  // namespace stepsim
