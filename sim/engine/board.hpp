// The board with every physical switch: the only file pair that touches SimGrid.
//
// What has a known duration is a timer; what shares a link is a transfer under max-min fairness. A
// transfer that is alone on its links has a known duration, too: it becomes SimGrid's business when
// another one comes to a link of it, with the bytes that are then left. One over links whose
// bandwidth changes is SimGrid's from its start.
//
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

#include <simgrid/kernel/Timer.hpp>
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

  /// Moves bytes over a stream from `date`, which is now, no faster than `rate` (bytes per second);
  /// transfers that one stream has at the same time are no faster together. Calls back at its end.
  /// Must be called from a callback of at().
  void transfer(const FoldedStream& stream, double bytes, double rate, double date,
                std::function<void(double date)> done);

  /// Takes the background traffic off the links. Without it, run() goes on for as long as others
  /// send: hundreds of hours of simulated time. Must be called from a callback of at().
  void end_background();

  /// Runs until nothing is left to happen.
  void run();

  std::int64_t events() const { return events_; }
  std::int64_t transfers() const { return transfers_; }

 private:
  using Done = std::function<void(double)>;
  /// A transfer under way: alone on its links until `end`, or SimGrid's.
  struct Moving {
    const FoldedStream* stream = nullptr;
    double bytes = 0, rate = 0, begin = 0, end = 0;
    Done done;
    simgrid::s4u::CommPtr comm;
    double later = 0;  ///< bytes that follow in further transfers of SimGrid's
  };
  using MovingId = std::uint64_t;

  /// SimGrid's clock is a double: the older it is, the coarser are its dates. Sets what counts as
  /// an instant until the clock has doubled, and waits for that.
  void grow_older();
  /// At the date of the next change of a link: makes it, and waits for the one after.
  void change_links();
  void set_bandwidth(LinkId link, double factor);
  void await_change();
  /// Nothing will happen any more, but that links change.
  bool idle() const { return spare_.size() == batches_.size() && moving_.empty(); }

  void build_platform(const Folding& folding, const std::vector<const FoldedStream*>& streams);
  void begin_background();
  struct Ends {
    simgrid::s4u::Host* from;
    simgrid::s4u::Host* to;
    simgrid::s4u::Link* limit;
  };
  /// Gives those that were alone on a link of the stream to SimGrid; whether there are any others.
  bool meet_others(const FoldedStream& stream, double date);
  void move_alone(MovingId id);
  void hand_over(MovingId id, double bytes);
  void leave(MovingId id);
  using Callbacks = std::vector<std::function<void()>>;

  Callbacks* open_batch(double date);
  void fire(Callbacks* batch);
  void finished(const simgrid::s4u::Activity& activity);

  std::unique_ptr<simgrid::s4u::Engine> engine_;
  double base_ = 0;  // SimGrid's clock survives its engine
  std::vector<simgrid::s4u::Link*> links_;
  const std::vector<BytesPerSecond>& bandwidths_;
  OpenWindows windows_;
  std::vector<double> left_;  // of the links' bandwidths
  simgrid::kernel::timer::Timer* change_ = nullptr;
  simgrid::kernel::timer::Timer* older_ = nullptr;
  double instant_ = 0;  // dates closer than this are one
  std::unordered_map<const FoldedStream*, Ends> ends_;
  std::unordered_map<MovingId, Moving> moving_;
  std::unordered_map<const simgrid::s4u::Activity*, MovingId> comms_;
  std::vector<std::vector<MovingId>> on_link_;  // of streams that may share
  std::vector<FoldedStream> background_;        // `alone` is the rate of the load
  std::vector<MovingId> endless_;               // what moves over them
  std::vector<simgrid::s4u::CommPtr> cancelled_;
  MovingId next_ = 0;
  std::deque<Callbacks> batches_;
  std::vector<Callbacks*> spare_;  // fired
  Callbacks* open_ = nullptr;      // the last batch that was set, if it has not fired
  double open_date_ = 0;
  std::int64_t events_ = 0, transfers_ = 0;

  static Board* current_;
};

}  // namespace stepsim
