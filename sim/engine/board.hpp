// The board: what happens when, and what moves over shared links meanwhile.
//
// What has a known duration is on an agenda. What moves over links that others may use shares them
// max-min fairly, and its end follows from its rates. There are two of these: one of our own, exact
// for classes (exact_board.hpp), and SimGrid's (simgrid/).
#pragma once

#include <cstdint>
#include <memory>

#include "sim/engine/event.hpp"
#include "sim/plan/fold.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// What is called back.
class BoardUser {
 public:
  /// The event's date has come.
  virtual void happen(Event event, double date) = 0;
  /// All events of that date that are known have happened; may be called again for the same date.
  /// Calls of Board::at() only.
  virtual void settle(double date) = 0;

 protected:
  ~BoardUser() = default;
};

class Board {
 public:
  virtual ~Board() = default;

  /// The event happens at that date (seconds since the board was made).
  virtual void at(double date, Event event) = 0;

  /// Moves bytes over a stream from `date`, which is now, no faster than `rate` (bytes per second).
  /// `done` happens at its end. Must be called from BoardUser::happen().
  virtual void transfer(const FoldedStream& stream, double bytes, double rate, double date,
                        Event done) = 0;

  /// Takes the background traffic off the links. Must be called from BoardUser::happen().
  virtual void end_background() = 0;

  /// Runs until nothing is left to happen.
  virtual void run() = 0;

  /// Events that have happened, ends of transfers included.
  virtual std::int64_t events() const = 0;
  /// Transfers that met another one on a link that could not carry both at their own rates.
  virtual std::int64_t transfers() const = 0;
};

/// Keeps references to both. Throws IoError where SimGrid is asked for and cannot be loaded.
std::unique_ptr<Board> make_board(EngineKind kind, const Folding& folding, BoardUser& user);

}  // namespace stepsim
