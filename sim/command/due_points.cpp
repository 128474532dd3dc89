// Scenarios are told apart by their fingerprints.
#include "sim/command/due_points.hpp"

#include <utility>

#include "sim/command/simulated_point.hpp"
#include "sim/plan/known_names.hpp"

namespace stepsim {
namespace {

/// Nothing where it is refused: its copy will say why.
std::optional<Scenario> resolved_at(const Sweep& sweep, std::int64_t point) {
  try {
    return scenario_of(sweep, point, known_names());
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::string fingerprint_of(const std::optional<Scenario>& scenario) {
  return scenario ? fingerprint_of(*scenario) : std::string();
}

}  // namespace

DuePoints::DuePoints(const Sweep& sweep, const PointList& points, const Shard& shard,
                     SweepStore& store, const std::function<void()>& on_done)
    : sweep_(sweep), points_(points), shard_(shard), store_(store), on_done_(on_done) {}

std::int64_t DuePoints::left() const {
  std::int64_t left = 0;
  for (std::int64_t i = 0; i < points_.count(); ++i) left += is_due(i) ? 1 : 0;
  return left;
}

std::optional<std::int64_t> DuePoints::next() {
  for (; next_ < points_.count(); ++next_) {
    if (!is_due(next_)) continue;
    const std::int64_t point = points_[next_];
    auto scenario = resolved_at(sweep_, point);
    const std::string fingerprint = fingerprint_of(scenario);
    if (const auto known = store_.settled_like(fingerprint)) {
      add(point, *known, fingerprint);
      continue;
    }
    const auto waiting = waiting_.find(fingerprint);
    if (waiting != waiting_.end()) {
      waiting->second.push_back(point);
      continue;
    }
    if (scenario) waiting_[fingerprint];
    under_way_[point] = std::move(scenario);
    ++next_;
    return point;
  }
  return std::nullopt;
}

const Scenario* DuePoints::resolved(std::int64_t point) const {
  const auto found = under_way_.find(point);
  return found != under_way_.end() && found->second ? &*found->second : nullptr;
}

void DuePoints::keep(std::int64_t point, const Outcome& outcome) {
  const auto found = under_way_.find(point);
  const std::string fingerprint = fingerprint_of(found->second);
  under_way_.erase(found);
  add(point, outcome, fingerprint);
  const auto waiting = waiting_.find(fingerprint);
  if (waiting == waiting_.end()) return;
  for (const std::int64_t other : waiting->second) add(other, outcome, fingerprint);
  waiting_.erase(waiting);
}

bool DuePoints::is_due(std::int64_t i) const {
  return shard_.has(i) && !store_.has_settled(points_[i]);
}

void DuePoints::add(std::int64_t point, const Outcome& outcome, const std::string& scenario) {
  store_.add({point, outcome, scenario});
  on_done_();
}

}  // namespace stepsim
