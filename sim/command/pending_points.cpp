// Scenarios are told apart by their fingerprints.
#include "sim/command/pending_points.hpp"

#include <utility>

#include "sim/command/answer/simulated_point.hpp"
#include "sim/plan/load.hpp"

namespace stepsim {
namespace {

/// A few milliseconds of looking into the file.
constexpr int kLookedAt = 1000;

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
    if (!is_due(i)) continue;
    const std::int64_t point = points_[i];
    Scenario scenario;
    try {
      scenario = scenario_of(sweep_, point, known_names());
    } catch (const UserError& error) {  // known without a copy
      add({point,
           {.state = PointState::refused, .reason = sentence_of(error), .numbers = {}},
           "",
           build_});
      return NextPiece::later();
    }
    const std::string fingerprint = fingerprint_of(scenario);
    if (const auto known = store_.settled_like(fingerprint)) {
      add({point, known->outcome, fingerprint, known->build});
      return NextPiece::later();
    }
    const auto waiting = waiting_.find(fingerprint);
    if (waiting != waiting_.end()) {
      waiting->second.push_back(point);
      return NextPiece::later();
    }
    waiting_[fingerprint];
    under_way_[point] = std::move(scenario);
    return {point};
  }
  return {std::nullopt};
}

const Scenario* PendingPoints::resolved(std::int64_t point) const {
  const auto found = under_way_.find(point);
  return found != under_way_.end() ? &found->second : nullptr;
}

void PendingPoints::keep(std::int64_t point, const Outcome& outcome) {
  const auto found = under_way_.find(point);
  const std::string fingerprint = fingerprint_of(found->second);
  under_way_.erase(found);
  add({point, outcome, fingerprint, build_});
  const auto waiting = waiting_.find(fingerprint);
  if (waiting == waiting_.end()) return;
  for (const std::int64_t other : waiting->second) add({other, outcome, fingerprint, build_});
  waiting_.erase(waiting);
}

bool PendingPoints::is_due(std::int64_t i) const {
  return shard_.has(i) && !store_.has_settled(points_[i]);
}

void PendingPoints::add(const SweepPoint& point) {
  store_.add(point);
  on_done_();
}

}  // namespace stepsim
