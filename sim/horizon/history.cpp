// Walks one history through time, and keeps what is not yet durable apart from what is.
#include "sim/horizon/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

enum class Drawn : std::uint64_t { failure, step };

Seconds five_digits(double seconds) {
  const double unit = std::pow(10, std::floor(std::log10(seconds)) - 4);
  return Seconds{std::round(seconds / unit) * unit};
}

/// Work since the last durable checkpoint, which a failure would undo.
struct Unsaved {
  double useful = 0, checkpoints = 0;
  std::int64_t steps = 0;
};

class Walk {
 public:
  Walk(const Travel& travel, RandomKey key)
      : travel_(travel),
        failure_key_(key.with(static_cast<std::uint64_t>(Drawn::failure))),
        step_key_(key.with(static_cast<std::uint64_t>(Drawn::step))),
        end_(travel.horizon.steps > 0 ? kNever : travel.horizon.time.seconds()),
        goal_(travel.horizon.steps > 0 ? travel.horizon.steps
                                       : std::numeric_limits<std::int64_t>::max()) {
    history_.plain.resize(travel.steps.size());
    history_.blocked.resize(travel.steps.size());
    draw_failure();
  }

  History history() {
    while (!over()) {
      if (!work()) recover();
    }
    commit(writing_);
    commit(running_);
    return history_;
  }

 private:
  bool over() const { return now_ >= end_ || steps() >= goal_; }
  std::int64_t steps() const { return history_.steps + writing_.steps + running_.steps; }

  void draw_failure() {
    const double rate = travel_.failures.rate.base();
    const double uniform =
        failure_key_.with(static_cast<std::uint64_t>(drawn_failures_++)).uniform();
    next_failure_ = rate > 0 ? now_ - std::log(uniform) / rate : kNever;
  }

  /// Lets `time` pass and adds it to `spent`; false where a failure comes first.
  bool pass(double time, double& spent) {
    const double until = std::min(now_ + time, end_);
    const bool fails = next_failure_ < until;
    const double to = fails ? next_failure_ : until;
    spent += to - now_;
    now_ = to;
    if (durable_at_ <= now_) settle();
    if (fails) {
      count(++history_.failures);
      draw_failure();
    }
    return !fails;
  }

  /// Refuses a walk that no machine can finish: that is the user's mistake, better said than met.
  void count(std::int64_t events) const {
    if (events <= kMostEvents) return;
    throw UserError(
        std::string("run.horizon: to get there takes more than 100 million steps, checkpoints or "
                    "failures: ") +
        (travel_.every > 0 ? "shorten it"
                           : "no checkpoint is stated, so that each failure starts over: state "
                             "checkpoint.every, or shorten it"));
  }

  /// The checkpoint that was being written is durable now: no failure undoes its steps any more.
  void settle() {
    commit(writing_);
    durable_at_ = kNever;
  }

  void commit(Unsaved& saved) {
    history_.time.useful += saved.useful;
    history_.time.checkpoints += saved.checkpoints;
    history_.steps += saved.steps;
    saved = {};
  }

  /// Takes one step, and the checkpoint behind it where one is due; false where a failure comes
  /// first.
  bool work() {
    const auto number = static_cast<std::uint64_t>(drawn_steps_);
    count(++drawn_steps_);
    const std::size_t drawn = step_key_.with(number).bits() % travel_.steps.size();
    const std::int64_t steps = together();
    const double each = travel_.steps[drawn].seconds();
    const double from = now_;
    if (!pass(each * static_cast<double>(steps), running_.useful)) return false;
    // A step that the end of the horizon cuts off does not count as done.
    const double within = (end_ - from) / each;
    const std::int64_t whole =
        within >= static_cast<double>(steps) ? steps : static_cast<std::int64_t>(within);
    running_.steps += whole;
    const bool due = travel_.every > 0 && running_.steps == travel_.every && !over();
    history_.plain[drawn] += std::max<std::int64_t>(whole, 1) - (due ? 1 : 0);
    return !due || save(drawn);
  }

  /// The number of steps to take together: not beyond the next checkpoint, nor beyond the end.
  std::int64_t together() const {
    std::int64_t steps = std::min(travel_.at_once, goal_ - this->steps());
    if (travel_.every > 0) steps = std::min(steps, travel_.every - running_.steps);
    return steps;
  }

  /// Takes the checkpoint behind the step that was drawn; false where a failure comes first.
  bool save(std::size_t drawn) {
    const double asked = now_;
    // A checkpoint starts when the write of the one before it has freed the buffers.
    if (durable_at_ < kNever) {
      if (!pass(durable_at_ - now_, running_.checkpoints)) return false;
      settle();
    }
    const double begun = now_;
    if (!pass(travel_.checkpoint.blocking.seconds(), running_.checkpoints)) return false;
    if (begun > asked) {
      ++history_.waited[five_digits(travel_.steps[drawn].seconds() + now_ - asked)];
    } else {
      ++history_.blocked[drawn];
    }
    writing_ = running_;
    running_ = {};
    durable_at_ = begun + travel_.checkpoint.durable.seconds();
    if (durable_at_ <= now_) settle();
    return pass(travel_.checkpoint.slowdown.seconds(), running_.checkpoints);
  }

  void recover() {
    for (const Unsaved* undone : {&writing_, &running_})
      history_.time.lost += undone->useful + undone->checkpoints;
    writing_ = running_ = {};
    durable_at_ = kNever;
    const Failures& f = travel_.failures;
    TimeSpent& time = history_.time;
    while (!over()) {
      if (pass(f.detection.seconds(), time.detection) && pass(f.restart.seconds(), time.restart) &&
          pass(f.reload.seconds(), time.reload))
        return;
    }
  }

  const Travel& travel_;
  const RandomKey failure_key_, step_key_;
  const double end_;
  const std::int64_t goal_;
  History history_;
  double now_ = 0;
  double next_failure_ = kNever;
  double durable_at_ = kNever;  ///< when the checkpoint in writing is durable
  Unsaved writing_, running_;
  std::int64_t drawn_failures_ = 0, drawn_steps_ = 0;
};

}  // namespace

History draw_history(const Travel& travel, RandomKey key) { return Walk(travel, key).history(); }

}  // namespace stepsim
