// The board with every physical switch: the only file pair that touches SimGrid.
//
// What has a known duration is a timer; what shares a link is a transfer under max-min fairness.
// Links have no latency here (the caller waits it before the transfer), transfers do not slow the
// reverse direction, and no TCP window limits them: with these switches a transfer matches its
// closed form.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/plan/fold.hpp"

namespace stepsim {

class Board {
 public:
  /// Builds the platform of the folding's links and routes.
  explicit Board(const Folding& folding);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  /// Calls back at that date (seconds since the board was made). Calls in a row for one date share
  /// a timer: ranks of a group go in step, and timers are what most of a run's time goes into.
  void at(double date, std::function<void()> callback);

  /// Moves bytes over a route now; calls back at its end. Must be called from a callback of at().
  void transfer(const FoldedRoute& route, double bytes, std::function<void(double date)> done);

  /// Runs until nothing is left to happen.
  void run();

  std::int64_t events() const { return events_; }
  std::int64_t transfers() const { return transfers_; }

 private:
  void build_platform(const Folding& folding, const std::vector<const FoldedRoute*>& routes);
  struct Moving {
    simgrid::s4u::CommPtr comm;
    std::function<void(double)> done;
  };
  using Callbacks = std::vector<std::function<void()>>;

  Callbacks* open_batch(double date);
  void fire(Callbacks* batch);
  void finished(const simgrid::s4u::Activity& activity);

  std::unique_ptr<simgrid::s4u::Engine> engine_;
  double base_ = 0;  // SimGrid's clock survives its engine
  std::vector<simgrid::s4u::Link*> links_;
  std::unordered_map<const FoldedRoute*, simgrid::s4u::Host*> sources_;
  simgrid::s4u::Host* sink_ = nullptr;
  std::unordered_map<const simgrid::s4u::Activity*, Moving> moving_;
  std::deque<Callbacks> batches_;
  std::vector<Callbacks*> spare_;  // fired
  Callbacks* open_ = nullptr;      // the last batch that was set, if it has not fired
  double open_date_ = 0;
  std::int64_t events_ = 0, transfers_ = 0;

  static Board* current_;
};

}  // namespace stepsim
