// An agenda beside exact shares.
#include "sim/engine/exact_board.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

// What is left of a link that is down: a rate of nothing would never end.
constexpr double kDown = 1e-12;

}  // namespace

ExactBoard::ExactBoard(const Folding& folding, BoardUser& user)
    : folding_(folding),
      user_(user),
      windows_(folding.windows),
      next_window_(windows_.next()),
      sharing_(folding.links) {
  for (const FoldedLoad& load : folding.background)
    background_.push_back({.crossings = {{load.link, 1}}, .alone = load.rate});
  if (!background_.empty()) agenda_.add(0, {EventKind::traffic_starts});
}

void ExactBoard::at(double date, Event event) {
  if (!std::isfinite(date)) throw InternalError("an event without a date");
  agenda_.add(date, event);
}

Sharing::Id ExactBoard::begin(const FoldedStream& stream, double bytes, double rate, double date,
                              Event done) {
  const Sharing::Id id = sharing_.add(stream.crossings, rate);
  if (id >= moving_.size()) moving_.resize(id + 1);
  Moving& moving = moving_[id];
  moving = {bytes, date, 0, done, moving.schedule + 1};
  return id;
}

void ExactBoard::transfer(const FoldedStream& stream, double bytes, double rate, double date,
                          Event done) {
  const double most = std::min(rate, stream.alone.bytes_per_second());
  if (!stream.shares()) return at(date + bytes / most, done);
  begin(stream, bytes, most, date, done);
}

void ExactBoard::end_background() {
  for (const Sharing::Id id : endless_) sharing_.remove(id);
  endless_.clear();
}

void ExactBoard::change_links() {
  for (const auto& [link, factor] : windows_.pass())
    sharing_.set_capacity(link, std::max(factor, kDown));
  next_window_ = windows_.next();
}

void ExactBoard::happen(Event event, double date) {
  switch (event.kind) {
    case EventKind::transfer_ends: {
      Moving& moving = moving_[event.a];
      if (moving.schedule != event.b) {
        --outdated_;
        return;
      }
      ++events_;
      const Event done = moving.done;
      ++moving.schedule;
      moving.has_end = false;
      sharing_.remove(event.a);
      return user_.happen(done, date);
    }
    case EventKind::traffic_starts:
      for (const FoldedStream& stream : background_)
        endless_.push_back(begin(stream, INFINITY, stream.alone.bytes_per_second(), date, {}));
      return;
    default:
      ++events_;
      return user_.happen(event, date);
  }
}

void ExactBoard::share(double date) {
  for (const Sharing::Id id : sharing_.share()) {
    Moving& moving = moving_[id];
    moving.left = std::max(moving.left - moving.rate * (date - moving.since), 0.0);
    moving.since = date;
    moving.rate = sharing_.rate(id);
    const double end = date + moving.left / moving.rate;
    if (moving.has_end) ++outdated_;
    moving.has_end = end < INFINITY;
    if (moving.has_end) agenda_.add(end, {EventKind::transfer_ends, id, ++moving.schedule});
  }
}

void ExactBoard::run() {
  while (agenda_.size() > outdated_) {
    const double date = std::min(agenda_.next(), next_window_);
    while (next_window_ <= date) change_links();
    do {
      while (agenda_.next() <= date) happen(agenda_.take(), date);
      user_.settle(date);
      share(date);
    } while (agenda_.next() <= date);
  }
}

}  // namespace stepsim
