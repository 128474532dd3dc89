// The board with every physical switch of SimGrid: the only file pair that touches it.
//
// What has a known duration is on the agenda; what shares a link is a transfer under max-min
// fairness. A transfer that is alone on its links has a known duration, too: it becomes SimGrid's
// business when another one comes to a link of it, with the bytes that are then left. One over
// links whose bandwidth changes is SimGrid's from its start.
//
// SimGrid's clock runs only while it has something to move; it is told where it has to stop for
// what comes next on the agenda. A run without contention has no SimGrid at all.
//
// Links have no latency here (the caller waits it before the transfer), transfers do not slow the
// reverse direction, and no TCP window limits them: with these switches a transfer matches its
// closed form.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include "sim/engine/agenda.hpp"
#include "sim/engine/board.hpp"
#include "sim/plan/fold.hpp"

namespace stepsim {

class SimGridBoard final : public Board {
 public:
  /// Keeps references to both.
  SimGridBoard(const Folding& folding, BoardUser& user);
  ~SimGridBoard() override;
  SimGridBoard(const SimGridBoard&) = delete;
  SimGridBoard& operator=(const SimGridBoard&) = delete;

  void at(double date, Event event) override;
  void transfer(const FoldedStream& stream, double bytes, double rate, double date,
                Event done) override;
  /// Without it, run() goes on for as long as others send: hundreds of hours of simulated time.
  void end_background() override;
  void run() override;
  std::int64_t events() const override { return events_; }
  std::int64_t transfers() const override { return transfers_; }

 private:
  /// A transfer under way: alone on its links until `end`, or SimGrid's.
  struct Moving {
    const FoldedStream* stream = nullptr;
    double bytes = 0, rate = 0, begin = 0, end = 0;
    Event done;
    simgrid::s4u::CommPtr comm;
    double later = 0;  ///< bytes that follow in further transfers of SimGrid's
  };
  using MovingId = std::uint32_t;

  // What happens, in order of date.
  /// Whether nothing will happen any more, but that links change.
  bool idle() const { return agenda_.empty() && moving_.empty(); }
  double next_date() const { return std::min(agenda_.next(), windows_.next()); }
  void pass(double date);
  void happen(Event event, double date);
  void change_links();
  void set_bandwidth(LinkId link, double factor);
  /// Dates are doubles: the later, the coarser. Sets what counts as an instant for a while.
  void grow_older(double date);

  // SimGrid, once it is needed.
  void start_simgrid(double date);
  void build_platform();
  bool is_moving() const { return !comms_.empty(); }
  /// Passes all dates at which SimGrid has nothing to move.
  void pass_without();
  /// The next date at which SimGrid has to stop.
  double next_stop() const { return std::min(next_date(), old_until_); }
  void stop_at(double date);
  void pause();
  struct Ends {
    simgrid::s4u::Host* from;
    simgrid::s4u::Host* to;
    simgrid::s4u::Link* limit;
  };
  void begin_background(double date);
  /// Gives those that were alone on a link of the stream to SimGrid; whether there are any others.
  bool meet_others(const FoldedStream& stream, double date);
  void end_alone(MovingId id, double date);
  void end_moved(MovingId id, double date);
  void hand_over(MovingId id, double bytes, double date);
  void leave(MovingId id);
  void finished(const simgrid::s4u::Activity& activity);

  const Folding& folding_;
  BoardUser& user_;
  Agenda agenda_;
  OpenWindows windows_;
  std::vector<double> left_;  // what is left of the links' bandwidths
  double instant_ = 0;        // dates closer than this are one
  double old_until_ = 0;      // until that date
  std::unordered_map<MovingId, Moving> moving_;
  std::vector<std::vector<MovingId>> on_link_;  // streams on each link that may share it
  MovingId next_ = 0;
  std::vector<FoldedStream> background_;  // `alone` is the rate of the load
  std::vector<MovingId> endless_;         // what moves over them
  std::int64_t events_ = 0, transfers_ = 0;

  std::unique_ptr<simgrid::s4u::Engine> engine_;
  double base_ = 0;  // SimGrid's clock at date 0, as if it had always run
  std::vector<simgrid::s4u::Link*> links_;
  std::unordered_map<const FoldedStream*, Ends> ends_;
  std::unordered_map<const simgrid::s4u::Activity*, MovingId> comms_;
  std::vector<simgrid::s4u::CommPtr> cancelled_;
  simgrid::kernel::timer::Timer* stop_ = nullptr;
  double stop_date_ = 0;

  static SimGridBoard* current_;
};

}  // namespace stepsim
