// A line through the times of all-reduces, taken apart into what a link says of a step.
#include <algorithm>

#include <fmt/format.h>

#include "sim/calibrate/fit/line.hpp"
#include "sim/calibrate/profile/cpu_profile.hpp"
#include "sim/core/problems.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

using namespace stepsim::literals;

/// Smaller sums are the latency's alone. Judgement: a page.
constexpr Bytes kLeastMessage = 4_KiB;
/// Reported as large. Judgement: buckets of gradients have it at least.
constexpr Bytes kLargeMessage = 1_MiB;
/// Judgement: a line has two constants, a third point contradicts them.
constexpr std::size_t kFewestSums = 3;

/// An all-reduce that was measured.
struct Sum {
  double ranks = 2;
  Bytes bytes;
  Seconds seconds;
  Place place;
};

std::vector<Sum> sums_of(const MeasuredFile& file) {
  std::vector<Sum> sums;
  for (std::size_t i = 0; i < file.content.records.size(); ++i) {
    const PointRecord& record = file.content.records[i];
    const auto* point = std::get_if<CollectivePoint>(&record.point);
    if (point == nullptr || !record.skipped.empty() || point->op != CollectiveOp::all_reduce)
      continue;
    const Bytes bytes{static_cast<double>(point->bytes)};
    if (bytes < kLeastMessage) continue;
    sums.push_back({static_cast<double>(point->gpus), bytes,
                    Seconds{record.measured.timing.seconds},
                    i < file.places.size() ? file.places[i] : Place{}});
  }
  return sums;
}

/// Throws UserError where the largest sum takes no longer than the smallest.
void check_sums_grow(const MeasuredFile& file) {
  const std::vector<Sum> sums = sums_of(file);
  if (sums.size() < kFewestSums) return;
  const auto [least, most] = std::ranges::minmax_element(
      sums, [](const Sum& a, const Sum& b) { return a.bytes < b.bytes; });
  if (least->bytes < most->bytes && least->seconds < most->seconds) return;
  Problems problems;
  problems.add(
      most->place, "",
      fmt::format("all-reduce: {:.0f} bytes take {:.4g} s, and {:.0f} take {:.4g} s: times "
                  "that do not grow show no rate",
                  least->bytes.bytes(), least->seconds.seconds(), most->bytes.bytes(),
                  most->seconds.seconds()),
      "measure again, by another file or without the collectives in this one");
  problems.throw_if_any();
}

}  // namespace

std::optional<LinkDraft> cpu_link(const MeasuredFile& file, const std::string& name,
                                  const ProfileOrigin& origin) {
  check_sums_grow(file);
  std::vector<fit::Message> messages;
  fit::Samples samples;
  double ranks = 2;
  Bytes largest = kLeastMessage;
  for (const Sum& sum : sums_of(file)) {
    ranks = sum.ranks;
    largest = std::max(largest, sum.bytes);
    messages.push_back({sum.bytes, sum.seconds});
    samples.push_back({MemoryBound{sum.bytes}, sum.seconds, sum.bytes >= kLargeMessage});
  }
  if (messages.size() < kFewestSums) return {};
  const fit::Line line = fit::line_through(messages);
  const double steps = 2 * (ranks - 1);
  LinkDraft draft;
  draft.origin = origin;
  draft.profile.name = name;
  draft.profile.latency = fit::rounded(line.latency * (1 / steps), 1e-6);
  draft.profile.bandwidth =
      fit::rounded(BytesPerSecond{steps / ranks / line.seconds_per_byte}, 1e9);
  draft.profile.efficiency = 1;
  FamilyReport report{.family = fmt::format("all-reduce, {:.0f} ranks", ranks), .path = ""};
  report.errors = fit::errors_of(
      [&](const Work& work) { return line.time(std::get<MemoryBound>(work).bytes); }, samples);
  report.held_out = false;
  report.range = fmt::format("{} to {}", humanise(kLeastMessage).text(), humanise(largest).text());
  report.remark = fmt::format("{:.4g} us, {:.4g} GB/s", line.latency.seconds() * 1e6,
                              1e-9 / line.seconds_per_byte);
  draft.state("", "all-reduce", fit_source(origin, report));
  draft.families.push_back(report);
  return draft;
}

}  // namespace stepsim
