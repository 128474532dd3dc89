// Merges files point by point: a point that is there already has to say what the new one says.
#include "sim/store/merge_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/store/axes_text.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

/// The relative difference up to which two results are one: machines differ in the last bits of
/// what libm rounds, and no point is off by more.
constexpr double kSame = 1e-9;

bool are_same(double a, double b) {
  return std::abs(a - b) <= kSame * std::max(std::abs(a), std::abs(b));
}

bool are_same(const PointNumbers& a, const PointNumbers& b) {
  for (std::size_t i = 0; i < kCauses; ++i) {  // a part counts as exact as the whole is
    if (std::abs(a.breakdown[i] - b.breakdown[i]) > kSame * a.step.seconds()) return false;
  }
  return are_same(a.step.seconds(), b.step.seconds()) && are_same(a.mfu, b.mfu) &&
         are_same(a.tokens_per_s, b.tokens_per_s) && are_same(a.samples_per_s, b.samples_per_s) &&
         are_same(a.peak.bytes(), b.peak.bytes()) &&
         are_same(a.capacity.bytes(), b.capacity.bytes()) && are_same(a.gpus, b.gpus) &&
         are_same(a.dollars, b.dollars);
}

bool are_same(const Outcome& a, const Outcome& b) {
  if (a.state != b.state || a.reason != b.reason) return false;
  if (!a.numbers || !b.numbers) return !a.numbers && !b.numbers;
  return are_same(*a.numbers, *b.numbers);
}

/// An outcome in a few words: "ok, 0.0225 s", "refused: 3 does not divide 8".
std::string title_of(const Outcome& outcome) {
  std::string text = name_of(outcome.state);
  if (outcome.numbers) text += fmt::format(", {:.9g} s", outcome.numbers->step.seconds());
  if (!outcome.reason.empty()) text += ": " + outcome.reason;
  return text;
}

std::string settings_of(const std::vector<SweepAxis>& axes, std::int64_t point) {
  const auto places = places_of(axes, point);
  std::string text;
  for (std::size_t a = 0; a < axes.size(); ++a)
    for (std::size_t p = 0; p < axes[a].paths.size(); ++p)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axes[a].paths[p],
                          axes[a].values[places[a]].texts[p]);
  return text;
}

/// A new file, which a failed merge does not leave behind.
class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)), is_new_(!fs::exists(path_)) {}
  ~NewFile() {
    std::error_code ignored;
    if (is_new_) fs::remove(path_, ignored);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  void keep() { is_new_ = false; }

 private:
  std::string path_;
  bool is_new_;
};

class Merge {
 public:
  Merge(const std::string& into, const std::vector<std::string>& from, bool any_build)
      : into_(into), from_(from), any_build_(any_build), store_(into) {
    store_.hold();
    for (const SweepRecord& record : store_.sweeps()) {
      store_.look_at(record);
      known_[record.identity] = {record, into, store_.count() > 0 ? 1 : 0, store_.builds()};
    }
  }

  std::vector<MergedSweep> run() {
    for (std::size_t i = 0; i < from_.size(); ++i) {
      if (!fs::equivalent(from_[i], into_)) add_file(i);
    }
    std::vector<MergedSweep> all = result();
    store_.flush();
    return all;
  }

 private:
  struct Known {
    SweepRecord record;
    std::string file;  ///< the first file that had the sweep
    std::int64_t files = 0;
    std::vector<std::string> builds;  ///< builds that simulated points of the sweep, sorted
  };

  void add_file(std::size_t i) {
    SweepStore source = SweepStore::reader(from_[i]);
    const auto records = source.sweeps();
    if (records.empty()) throw UserError(fmt::format("'{}' has no sweep", from_[i]));
    for (const SweepRecord& record : records) {
      Known& known =
          known_.try_emplace(record.identity, Known{record, from_[i], 0, {}}).first->second;
      source.look_at(record);
      check(known, record, from_[i], source.builds());
      store_.choose(known.record, false);
      known.files += source.count() > 0 ? 1 : 0;
      source.each([&](const SweepPoint& point) { add(point, record, i); });
    }
  }

  /// Refuses a file whose axes, profiles or builds are not those of the sweep as `known`; adds its
  /// builds to `known`.
  void check(Known& known, const SweepRecord& record, const std::string& file,
             const std::vector<std::string>& builds) const {
    const auto refuse = [&](const std::string& what) {
      throw UserError(fmt::format(
          "'{}' and '{}' have points of the same sweep of {}, {}: simulate one of them again "
          "(stepsim sweep ... --restart)",
          known.file, file, record.name, what));
    };
    if (axes_text(known.record.axes) != axes_text(record.axes))
      throw UserError(
          fmt::format("'{}' or '{}' is damaged: they have other axes of the same sweep of {}",
                      known.file, file, record.name));
    if (known.record.inputs != record.inputs) refuse("simulated with different profiles");
    std::vector<std::string> all;
    std::set_union(known.builds.begin(), known.builds.end(), builds.begin(), builds.end(),
                   std::back_inserter(all));
    if (all.size() > 1 && !any_build_)
      refuse(
          fmt::format("simulated by different builds of stepsim, {} (--any-build unites them as "
                      "they are)",
                      fmt::join(all, " and ")));
    known.builds = std::move(all);
  }

  void add(const SweepPoint& point, const SweepRecord& record, std::size_t file) {
    if (!store_.has(point.point)) return store_.add(point);
    const Outcome there = store_.point(point.point).outcome;
    if (!is_settled(point.outcome.state) || are_same(there, point.outcome)) return;
    if (!is_settled(there.state)) return store_.add(point);
    throw UserError(fmt::format("point {} of {} ({}) is '{}' in '{}', and '{}' in '{}'",
                                point.point, record.name, settings_of(record.axes, point.point),
                                title_of(there), owner_of(point.point, record, file),
                                title_of(point.outcome), from_[file]));
  }

  /// Which file before the file `file` has the point.
  std::string owner_of(std::int64_t point, const SweepRecord& record, std::size_t file) const {
    for (std::size_t i = 0; i < file; ++i) {
      if (fs::equivalent(from_[i], into_)) continue;
      SweepStore other = SweepStore::reader(from_[i]);
      const auto records = other.sweeps();
      const auto same = [&](const SweepRecord& r) { return r.identity == record.identity; };
      if (std::ranges::none_of(records, same)) continue;
      other.look_at(record);
      if (other.has(point)) return from_[i];
    }
    return into_;
  }

  std::vector<MergedSweep> result() {
    std::vector<MergedSweep> all;
    for (const SweepRecord& record : store_.sweeps()) {
      store_.look_at(record);
      all.push_back({store_.number(), record, store_.count(), known_.at(record.identity).files});
    }
    return all;
  }

  const std::string& into_;
  const std::vector<std::string>& from_;
  bool any_build_;
  SweepStore store_;
  std::map<std::string, Known> known_;
};

}  // namespace

std::vector<MergedSweep> merge_sweeps(const std::string& into, const std::vector<std::string>& from,
                                      bool any_build) {
  // a file that cannot be used is said before anything is made
  for (const std::string& path : from) SweepStore::reader(path);
  NewFile file(into);
  std::vector<MergedSweep> all;
  {
    Merge merge(into, from, any_build);
    all = merge.run();
  }
  file.keep();
  return all;
}

}  // namespace stepsim
