// What is due of a sweep, and how copies of the process ended as outcomes of points.
#include "sim/command/sweep/pending_points.hpp"

#include <utility>

#include "sim/command/answer/simulated_point.hpp"
#include "sim/core/trim.hpp"
#include "sim/plan/load.hpp"

namespace stepsim {
namespace {

/// A few milliseconds of looking into the file.
constexpr int kLookedAt = 1000;

PointState state_of(Ending how) {
  switch (how) {
    case Ending::user_error:
      return PointState::refused;
    case Ending::timed_out:
      return PointState::timed_out;
    case Ending::out_of_memory:
      return PointState::out_of_memory;
    case Ending::crashed:
      return PointState::crashed;
    default:
      return PointState::failed;
  }
}

/// What there is to say of a point whose copy did not live to tell which scenario it is. One that has
/// none is refused, however little time or memory it had.
PointAnswer answer_without_copy(const Sweep& sweep, const Ended& ended) {
  try {
    return {fingerprint_of(scenario_of(sweep, ended.index, known_names())),
            {state_of(ended.how), on_one_line(ended.text), {}}};
  } catch (const UserError& error) {
    return {"", {PointState::refused, on_one_line(sentence_of(error)), {}}};
  }
}

}  // namespace

PendingPoints::PendingPoints(const Sweep& sweep, const PointList& points, const Shard& shard,
                             SweepStore& store, const std::string& build,
                             const std::function<void()>& on_done)
    : sweep_(sweep),
      points_(points),
      shard_(shard),
      store_(store),
      build_(build),
      on_done_(on_done) {}

std::int64_t PendingPoints::left() const {
  std::int64_t left = 0;
  for (std::int64_t i = 0; i < points_.count(); ++i) left += is_due(i) ? 1 : 0;
  return left;
}

NextPiece PendingPoints::next() {
  for (int looked_at = 0; next_ < points_.count(); ++looked_at) {
    if (looked_at == kLookedAt) return NextPiece::later();
    const std::int64_t i = next_++;
    if (is_due(i)) return {points_[i]};
  }
  return {std::nullopt};
}

void PendingPoints::keep(const Ended& ended) {
  const bool is_told = ended.how == Ending::result;
  const PointAnswer answer =
      is_told ? point_answer_of(ended.text) : answer_without_copy(sweep_, ended);
  store_.add({ended.index, answer.outcome, answer.scenario, build_});
  on_done_();
}

bool PendingPoints::is_due(std::int64_t i) const {
  return shard_.has(i) && !store_.has_settled(points_[i]);
}

}  // namespace stepsim
