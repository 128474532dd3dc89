// Selects the points to measure, and loops over them.
#include "calib/harness/campaign.hpp"

#include <set>

#include <fmt/format.h>

#include "sim/calibrate/measurement/plausible.hpp"

namespace stepsim::calib {
namespace {

constexpr double kSecondsBetweenSaves = 2;

PointRecord measure_one(const Point& point, const DeviceFacts& device, const Surroundings& here) {
  try {
    const Measured measured = here.measure(point);
    const std::string fault = why_implausible(point, measured, device);
    return {point, measured, fault.empty() ? "" : "implausible: " + fault};
  } catch (const NotOffered& reason) {
    return {point, {}, reason.what()};
  }
}

/// Puts a record in the place of an earlier record of the same point, or at the end.
void put(std::vector<PointRecord>& records, PointRecord record) {
  const std::string name = identity(record.point);
  for (PointRecord& earlier : records) {
    if (earlier.skipped.empty() || identity(earlier.point) != name) continue;
    earlier = std::move(record);
    return;
  }
  records.push_back(std::move(record));
}

/// Saves the measurements every two seconds of the budget's clock.
class Saver {
 public:
  Saver(const Surroundings& here, const Measurements& measurements, const Budget& budget)
      : here_(here), measurements_(measurements), budget_(budget) {}
  void now_and_then() {
    if (budget_.elapsed() - last_ < kSecondsBetweenSaves) return;
    here_.save(measurements_);
    last_ = budget_.elapsed();
  }

 private:
  const Surroundings& here_;
  const Measurements& measurements_;
  const Budget& budget_;
  double last_ = 0;
};

Ending measure_all(const std::vector<Point>& to_measure, Measurements& measurements,
                   const Surroundings& here, const Budget& budget, Progress& progress) {
  Saver saver(here, measurements, budget);
  for (std::size_t i = 0; i < to_measure.size(); ++i) {
    if (here.interrupted != nullptr && *here.interrupted != 0) return Ending::interrupted;
    if (budget.spent()) return Ending::out_of_time;
    const std::string name = identity(to_measure[i]);
    progress.show({i, to_measure.size(), budget.elapsed(), budget.limit(), name});
    PointRecord record = measure_one(to_measure[i], measurements.device, here);
    if (!record.skipped.empty()) {
      progress.clear();
      here.say(fmt::format("skipped {}: {}", name, record.skipped));
    }
    put(measurements.records, std::move(record));
    saver.now_and_then();
  }
  return Ending::complete;
}

}  // namespace

Selection select(const std::vector<Point>& points, const Measurements& earlier,
                 const DeviceFacts& device, const Libraries& libraries, bool again) {
  std::set<std::string> known;
  for (const PointRecord& record : earlier.records)
    if (record.skipped.empty() || !again) known.insert(identity(record.point));
  Selection selection;
  for (const Point& point : points) {
    if (known.count(identity(point)) > 0) {
      ++selection.already;
    } else if (const auto reason = why_left_out(point, device, libraries); !reason.empty()) {
      ++selection.left_out[reason];
    } else {
      selection.to_measure.push_back(point);
    }
  }
  return selection;
}

Ending run_campaign(const std::vector<Point>& to_measure, Measurements& measurements,
                    const Surroundings& here, const Budget& budget, Progress& progress) {
  try {
    const Ending ending = measure_all(to_measure, measurements, here, budget, progress);
    progress.clear();
    here.save(measurements);
    return ending;
  } catch (...) {
    progress.clear();
    here.save(measurements);
    throw;
  }
}

}  // namespace stepsim::calib
