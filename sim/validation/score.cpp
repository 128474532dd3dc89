// Takes means, quantiles and groups, and finds what stands out.
#include "sim/validation/score.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/quantile.hpp"

namespace stepsim {
namespace {

/// A part of a step stands out where its share is so much larger than in the median row. Judgement:
/// half of the errors that one asks about.
constexpr double kStandsOut = 0.05;
/// The share of memory above which allocators begin to try again. Judgement: the rows of
/// docs/accuracy/mpt.md that are named for it need 93 % and more.
constexpr double kNearlyFull = 0.9;

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? std::optional(number) : std::nullopt;
}

/// The rows of one group.
struct Members {
  std::string name, value;
  std::vector<double> all, expected;
};

std::vector<Members> groups_of(const std::vector<ValidationRow>& rows) {
  std::vector<Members> groups;
  std::vector<std::string> names;
  for (const ValidationRow& row : rows) {
    for (const auto& [name, value] : row.groups) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      if (!row.predicted) continue;
      auto found =
          std::ranges::find_if(groups, [&name = name, &value = value](const Members& group) {
            return group.name == name && group.value == value;
          });
      if (found == groups.end()) found = groups.insert(groups.end(), {name, value, {}, {}});
      found->all.push_back(row.error());
      if (row.known.empty()) found->expected.push_back(row.error());
    }
  }
  // Values that are numbers ascend; other values stay in their order.
  const auto rank = [&](const Members& group) {
    return std::ranges::find(names, group.name) - names.begin();
  };
  std::ranges::stable_sort(groups, [&](const Members& a, const Members& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    const auto left = number_of(a.value), right = number_of(b.value);
    return left && right && *left < *right;
  });
  return groups;
}

double share_of(const ValidationRow& row, std::size_t cause) {
  return row.predicted->breakdown[cause] / row.predicted->step.seconds();
}

}  // namespace

std::string ValidationRow::software() const {
  const auto found = std::ranges::find(groups, std::string(kSoftwareGroup),
                                       &std::pair<std::string, std::string>::first);
  return found == groups.end() ? "" : found->second;
}

Score score_of(const std::vector<ValidationRow>& rows, std::size_t worst) {
  Score score;
  std::vector<double> all, expected, unseen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].predicted) {
      score.unpredicted.push_back(i);
      continue;
    }
    score.worst.push_back(i);
    if (rows[i].is_refused_by_memory()) score.not_fitting.push_back(i);
    all.push_back(rows[i].error());
    if (!rows[i].known.empty()) continue;
    expected.push_back(rows[i].error());
    unseen.push_back(rows[i].unseen_error());
    if (rows[i].unseen) score.has_unseen = true;
  }
  score.all = errors_of(all);
  score.expected = errors_of(expected);
  score.unseen = errors_of(unseen);
  score.growth = growth_of(rows);
  score.choices = choices_of(rows, true);
  score.expected_choices = choices_of(rows, false);
  std::ranges::stable_sort(score.worst, [&](std::size_t a, std::size_t b) {
    return std::abs(rows[a].error()) > std::abs(rows[b].error());
  });
  score.worst.resize(std::min(score.worst.size(), worst));
  for (const Members& group : groups_of(rows))
    score.groups.push_back(
        {group.name, group.value, errors_of(group.all), errors_of(group.expected)});
  return score;
}

std::string likely_cause(const ValidationRow& row, const std::vector<ValidationRow>& others) {
  std::size_t largest = 0, unusual = 0;
  double most = -1, usual = 0;
  for (std::size_t cause = 0; cause < kCauses; ++cause) {
    std::vector<double> shares;
    for (const ValidationRow& other : others) {
      if (other.predicted && other.suite == row.suite) shares.push_back(share_of(other, cause));
    }
    std::ranges::sort(shares);
    const double median = shares.empty() ? 0 : interpolated_quantile(shares, 0.5);
    const double beyond = share_of(row, cause) - median;
    if (share_of(row, cause) > share_of(row, largest)) largest = cause;
    if (beyond > most) {
      most = beyond;
      unusual = cause;
      usual = median;
    }
  }
  const bool stands_out = most >= kStandsOut;
  const std::size_t cause = stands_out ? unusual : largest;
  std::string text =
      fmt::format("{} {:.0f} %", title_of(static_cast<Cause>(cause)), 100 * share_of(row, cause));
  if (stands_out) text += fmt::format(" (median row {:.0f} %)", 100 * usual);
  if (row.predicted->memory_share > kNearlyFull)
    text += fmt::format("; memory {:.0f} % full", 100 * row.predicted->memory_share);
  return text;
}

}  // namespace stepsim
