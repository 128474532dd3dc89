// The board whose shares are exact: a folded and an unfolded run are equal to the bit.
//
// All that happens at one date happens before any rate is worked out from it, and the bytes that a
// transfer has left are brought up to date only when its own rate changes. So what members of a
// class go through is the same arithmetic in the same order, whoever else is about.
#pragma once

#include <vector>

#include "sim/engine/agenda.hpp"
#include "sim/engine/board.hpp"
#include "sim/engine/sharing.hpp"

namespace stepsim {

class ExactBoard final : public Board {
 public:
  /// Keeps references to both.
  ExactBoard(const Folding& folding, BoardUser& user);

  void at(double date, Event event) override;
  void transfer(const FoldedStream& stream, double bytes, double rate, double date,
                Event done) override;
  void end_background() override;
  void run() override;
  std::int64_t events() const override { return events_; }
  std::int64_t transfers() const override { return sharing_.contended(); }

 private:
  struct Moving {
    double left = 0;  // bytes, at the date `since`
    double since = 0;
    double rate = 0;
    Event done;
    std::uint32_t schedule = 0;  // counts its dates of ending; an older one no longer holds
    bool has_end = false;        // one that holds is on the agenda
  };

  void happen(Event event, double date);
  void change_links();
  void share(double date);
  Sharing::Id begin(const FoldedStream& stream, double bytes, double rate, double date, Event done);

  const Folding& folding_;
  BoardUser& user_;
  Agenda agenda_;
  OpenWindows windows_;
  double next_window_;  // the date at which links change next
  Sharing sharing_;
  std::vector<Moving> moving_;            // by Sharing::Id
  std::vector<FoldedStream> background_;  // `alone` is the rate of the load
  std::vector<Sharing::Id> endless_;      // what moves over them
  std::int64_t outdated_ = 0;             // ends on the agenda that no longer hold
  std::int64_t events_ = 0;
};

}  // namespace stepsim
