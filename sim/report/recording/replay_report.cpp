// Writes what changes of a recorded step would give.
#include "sim/report/recording/replay_report.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kTitle = 60, kTime = 10, kShare = 10;
constexpr std::size_t kChanges = 6;
constexpr double kWorthSaying = 0.005;
/// Lags that nothing explains stay in a changed step. Above this share of the time they may well be
/// what the change would have shortened, or would have been in its way.
constexpr double kMostNotExplained = 0.2;
/// Recorded steps and those of a long run are the same within this.
constexpr double kSame = 0.01;

double recorded_s(const Replay& replay) {
  double sum = 0;
  for (const ReplayedStep& step : replay.steps) sum += step.seconds;
  return sum;
}

double share_not_explained(const Replay& replay) {
  return replay.not_explained_s / recorded_s(replay);
}

double share_gained(const ReplayedChange& change) { return change.gain_s() / change.before_s; }

bool is_worth_saying(const ReplayedChange& change) { return share_gained(change) >= kWorthSaying; }

bool is_explained(const Replay& replay) { return share_not_explained(replay) <= kMostNotExplained; }

bool falls_behind(const Replay& replay) {
  double sum = 0;
  for (std::size_t i = 1; i < replay.steps.size(); ++i) sum += replay.steps[i].seconds;
  const double mean = sum / static_cast<double>(replay.steps.size() - 1);
  return replay.steps.size() > 1 && !replay.changes.empty() &&
         replay.changes.front().before_s > mean * (1 + kSame);
}

/// How far to trust what changes would give, or why that is not said.
std::string remark_on(const Replay& replay) {
  if (!is_explained(replay))
    return fmt::format(
        "What a change would give is not said: for {} of the time work waits for what was not "
        "recorded.",
        percent(share_not_explained(replay)));
  std::string text = fmt::format(
      "simulated, all else as it was. A check of the replay, not of a claim: unchanged, the "
      "recorded steps come out within {}",
      percent(std::abs(replay.worst_deviation())));
  if (share_not_explained(replay) >= kWorthSaying)
    text += fmt::format("; {} of the time is waiting that nothing explains, and stays",
                        percent(share_not_explained(replay)));
  if (replay.steps_left_out > 0)
    text +=
        fmt::format("; the last {} of {} steps are left out: all together have too many launches",
                    replay.steps_left_out, replay.steps_left_out + replay.steps.size());
  if (falls_behind(replay))
    text += "; the GPU falls behind its host, so that a step is longer in a long run than here";
  return text;
}

class ReplayPage : Page {
 public:
  ReplayPage(const Replay& replay, Screen screen) : Page(screen, 80, 100), replay_(replay) {}

  std::string text() {
    if (!is_explained(replay_)) {
      wrapped(remark_on(replay_));
      line();
    } else if (!replay_.changes.empty() && is_worth_saying(replay_.changes.front())) {
      table();
    }
    return out_;
  }

 private:
  void table() {
    const double before = replay_.changes.front().before_s;
    const Column column = column_for(Seconds{before});
    line(bold(pad_right(
             fmt::format("What each change would give, a step of {}", column.text(before)),
             kTitle)) +
         bold(pad_left("step", kTime)) + bold(pad_left("gain", kShare)));
    std::size_t shown = 0;
    for (const ReplayedChange& change : replay_.changes) {
      if (!is_worth_saying(change) || shown++ == kChanges) break;
      line("  " + pad_right(shortened(change.sentence), kTitle - 2) +
           pad_left(column.text(change.after_s), kTime) +
           pad_left(percent(share_gained(change)), kShare));
    }
    wrapped(remark_on(replay_), 2);
    line();
  }

  static std::string shortened(std::string text) {
    if (width_of(text) > kTitle - 3) text = text.substr(0, kTitle - 6) + "...";
    return text;
  }

  const Replay& replay_;
};

Json step_json(const ReplayedStep& step) {
  return {{"name", step.name},
          {"seconds", number(step.seconds)},
          {"replayed_s", number(step.replayed_s)}};
}

Json change_json(const ReplayedChange& change) {
  return {{"name", change.name},
          {"sentence", change.sentence},
          {"before_s", number(change.before_s)},
          {"step_time_s", number(change.after_s)},
          {"gain_s", number(change.gain_s())}};
}

}  // namespace

std::string replay_table(const Replay& replay, const Screen& screen) {
  return ReplayPage(replay, screen).text();
}

std::string gain_sentence(const Replay& replay, const std::string& change) {
  if (change.empty() || !is_explained(replay)) return "";
  const auto found = std::ranges::find_if(replay.changes, [&](const ReplayedChange& one) {
    return one.name.starts_with(change) && is_worth_saying(one);
  });
  if (found == replay.changes.end()) return "";
  return fmt::format("where {}, a step takes {} instead of {}", found->sentence,
                     humanise(Seconds{found->after_s}).text(),
                     humanise(Seconds{found->before_s}).text());
}

Json replay_json(const std::optional<Replay>& replay) {
  if (!replay) return nullptr;
  return {{"steps", list_json(replay->steps, step_json)},
          {"worst_deviation", number(replay->worst_deviation())},
          {"steps_left_out", replay->steps_left_out},
          {"not_explained_s", number(replay->not_explained_s)},
          {"is_explained", is_explained(*replay)},
          {"remark", remark_on(*replay)}};
}

Json what_if_json(const std::optional<Replay>& replay) {
  return replay ? list_json(replay->changes, change_json) : Json::array();
}

}  // namespace stepsim
