// What a calibration says: one line a family, for people and for programs.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/calibrate/profile/calibration.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {
namespace {

using nlohmann::ordered_json;

constexpr int kFamilyWidth = 28;
constexpr std::size_t kErrorsWidth = 5 * 8 + 1;  // five columns of errors and the mark
constexpr double kHopeless = 0.5;  // judgement: worse than any family of the shipped profiles

/// In a column of eight.
std::string share_of(double error) { return error < 9.995 ? percent(error) : "> 999 %"; }

std::string errors_text(const FamilyReport& family) {
  const fit::Errors& e = family.errors;
  const std::string large = e.large > 0 ? share_of(e.large_mean) : "-";
  const std::string base = family.base_errors ? share_of(family.base_errors->mean) : "-";
  return fmt::format("{:>8}{:>8}{:>8}{:>8}{:>8}", share_of(e.mean), share_of(e.median),
                     share_of(e.p90), large, base);
}

std::string line_of(const FamilyReport& family) {
  std::string text = pad_right(family.family, kFamilyWidth);
  if (!family.fitted) return fmt::format("{}{:>6}  {}", text, "-", family.remark);
  text += fmt::format("{:>6}", family.errors.points);
  // What was measured once has no error of a fit.
  text += family.range.empty() ? std::string(kErrorsWidth, ' ') : errors_text(family);
  if (!family.range.empty()) text += family.held_out ? " " : "*";
  return fmt::format("{} {}", text, family.range.empty() ? family.remark : family.range);
}

/// The constants of a family in words, one a line.
std::string details_of(const FamilyReport& family) {
  if (!family.fitted || family.range.empty()) return "";
  std::string text;
  for (std::size_t from = 0; from < family.remark.size();) {
    const std::size_t end = std::min(family.remark.find("; ", from), family.remark.size());
    text += "    " + family.remark.substr(from, end - from) + "\n";
    from = end + 2;
  }
  return text;
}

ordered_json json_of(const FamilyReport& family) {
  ordered_json one{{"family", family.family}, {"fitted", family.fitted}};
  if (!family.path.empty()) one["path"] = family.path;
  if (family.fitted) {
    one["points"] = family.errors.points;
    one["held_out"] = family.held_out;
    one["mean_error"] = family.errors.mean;
    one["median_error"] = family.errors.median;
    one["p90_error"] = family.errors.p90;
    if (family.errors.large > 0) one["large_mean_error"] = family.errors.large_mean;
    if (family.base_errors) one["base_mean_error"] = family.base_errors->mean;
    if (family.base_errors && family.base_errors->large > 0)
      one["base_large_mean_error"] = family.base_errors->large_mean;
    if (!family.range.empty()) one["range"] = family.range;
  }
  if (!family.remark.empty()) one["remark"] = family.remark;
  return one;
}

/// Families whose points the formula does not describe.
std::vector<std::string> hopeless(const Calibration& made) {
  std::vector<std::string> families;
  for (const FamilyReport& family : made.families)
    if (family.fitted && !family.range.empty() && family.errors.mean > kHopeless)
      families.push_back(family.family);
  return families;
}

}  // namespace

std::string calibration_text(const Calibration& made) {
  const bool has_base = !made.base.empty();
  std::string text =
      fmt::format("{} points of {}{}\n\n", made.points,
                  made.device.empty() ? "a GPU that the files do not name" : made.device,
                  has_base ? "; what was not measured is as " + made.base : "");
  text +=
      fmt::format("{}{:>6}{:>8}{:>8}{:>8}{:>8}{:>8}  range\n", pad_right("family", kFamilyWidth),
                  "points", "mean", "median", "90th", "large", "base");
  bool any_fit = false;
  for (const FamilyReport& family : made.families) {
    text += line_of(family) + "\n" + details_of(family);
    any_fit = any_fit || (family.fitted && !family.held_out && !family.range.empty());
  }
  text += "\nErrors of time on points that the fit did not see";
  text += any_fit ? " (with *, on those of the fit)" : "";
  if (has_base)
    text += fmt::format("; base: of {} as it was, on all points",
                        made.base_link.empty() ? made.base : made.base + " and " + made.base_link);
  text += ".\n";
  if (const auto families = hopeless(made); !families.empty())
    text += fmt::format(
        "Warning: {} off by more than half: the formula does not describe these points; look at "
        "their units and kinds before you use the profile.\n",
        fmt::join(families, ", "));
  if (made.collectives > 0)
    text +=
        fmt::format("{} points of collectives are left out: --link FILE makes a link of them.\n",
                    made.collectives);
  if (made.between_nodes > 0)
    text += fmt::format(
        "{} points of several nodes are left out: --fabric FILE --base-cluster NAME makes a "
        "cluster of them.\n",
        made.between_nodes);
  return text;
}

std::string calibration_markdown(const Calibration& made) {
  std::string text =
      "| family | points | mean | median | 90th | large | base: mean | large |\n"
      "|---|---|---|---|---|---|---|---|\n";
  const auto large = [](const fit::Errors& errors) {
    return errors.large > 0 ? percent(errors.large_mean) : "-";
  };
  for (const FamilyReport& family : made.families) {
    if (!family.fitted) continue;
    const fit::Errors& own = family.errors;
    const auto& base = family.base_errors;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", family.family, own.points,
                        percent(own.mean), percent(own.median), percent(own.p90), large(own),
                        base ? percent(base->mean) : "-", base ? large(*base) : "-");
  }
  return text;
}

std::string calibration_json(const Calibration& made) {
  ordered_json json{{"schema", "stepsim.calibration/1"},
                    {"device", made.device},
                    {"base", made.base},
                    {"points", made.points}};
  if (made.base.empty()) json.erase("base");
  if (!made.base_link.empty()) json["base_link"] = made.base_link;
  ordered_json& families = json["families"] = ordered_json::array();
  for (const FamilyReport& family : made.families) families.push_back(json_of(family));
  json["off_by_more_than_half"] = hopeless(made);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace stepsim
