// A board that calls back functions, for tests that move a few transfers by hand.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/engine/board.hpp"

namespace stepsim {

class BoardCalls : private BoardUser {
 public:
  using Call = std::function<void(double date)>;

  /// Keeps a reference to the folding.
  explicit BoardCalls(const Folding& folding, EngineKind engine = EngineKind::exact)
      : board_(make_board(engine, folding, *this)) {}

  void at(double date, Call call) { board_->at(date, keep(std::move(call))); }
  void transfer(const FoldedStream& stream, double bytes, double rate, double date, Call done) {
    board_->transfer(stream, bytes, rate, date, keep(std::move(done)));
  }
  void run() { board_->run(); }
  std::int64_t transfers() const { return board_->transfers(); }

 private:
  Event keep(Call call) {
    calls_.push_back(std::move(call));
    return {EventKind::task_ends, static_cast<std::uint32_t>(calls_.size() - 1)};
  }
  void happen(Event event, double date) override {
    const Call call = calls_[event.a];  // it may add others
    call(date);
  }
  void settle(double) override {}

  std::vector<Call> calls_;
  std::unique_ptr<Board> board_;
};

}  // namespace stepsim
