// Compares with limits and with records.
#include "sim/validation/judgement.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace stepsim {
namespace {

std::string percent(double share, const char* sign = "") {
  return fmt::format(fmt::runtime(std::string("{:") + sign + ".1f} %"), 100 * share);
}

std::string title_of(const RecordedErrors& group) {
  return group.name.empty() ? group.suite
                            : fmt::format("{}, {} {}", group.suite, group.name, group.value);
}

const RecordedErrors* find(const std::vector<RecordedErrors>& list, const RecordedErrors& like) {
  const auto found = std::ranges::find_if(list, [&](const RecordedErrors& other) {
    return other.suite == like.suite && other.name == like.name && other.value == like.value;
  });
  return found == list.end() ? nullptr : &*found;
}

std::string title_of(const RecordedChoices& choices) {
  return choices.with_known ? "choices with known rows" : "choices";
}

const RecordedChoices* find(const std::vector<RecordedChoices>& list, const RecordedChoices& like) {
  const auto found = std::ranges::find_if(list, [&](const RecordedChoices& other) {
    return other.suite == like.suite && other.with_known == like.with_known;
  });
  return found == list.end() ? nullptr : &*found;
}

RecordedErrors record_of(const std::string& suite, const std::string& name,
                         const std::string& value, const Errors& errors) {
  return {suite,         name,       value,      errors.count, errors.mean,
          errors.median, errors.p90, errors.max, errors.bias};
}

int not_fitting(const RecordedErrors& group) { return group.not_fitting.value_or(0); }

/// The part of an error that survives being written with two decimals of a per cent.
double rounded(double share) { return std::round(share * 1e4) / 1e4; }

/// What is there now, and what the record has of suites that were not scored; `shares` are rounded.
template <class One>
std::vector<One> with_others(const std::vector<One>& record, std::vector<One> now,
                             const std::vector<std::string>& scored,
                             std::initializer_list<double One::*> shares) {
  for (const One& one : record)
    if (std::ranges::find(scored, one.suite) == scored.end()) now.push_back(one);
  std::ranges::stable_sort(now, {}, &One::suite);
  for (One& one : now)
    for (double One::*share : shares) one.*share = rounded(one.*share);
  return now;
}

}  // namespace

std::vector<SuiteLimit> limits_of(const Score& score, const Tolerance& tolerance) {
  const Errors& e = score.expected;
  std::vector<SuiteLimit> list;
  if (e.count == 0) return list;  // without errors there is nothing to judge
  const auto add = [&](const char* name, std::optional<double> limit, double actual) {
    if (limit) list.push_back({name, *limit, actual});
  };
  add("row", tolerance.row, e.max);
  add("mean", tolerance.mean, e.mean);
  add("median", tolerance.median, e.median);
  add("p90", tolerance.p90, e.p90);
  add("bias", tolerance.bias, std::abs(e.bias));
  return list;
}

std::vector<Breach> breaches_of(const std::vector<ValidationRow>& rows, const Score& score,
                                const Tolerance& tolerance, bool is_whole) {
  std::vector<Breach> breaches;
  for (const ValidationRow& row : rows) {
    if (!row.known.empty()) continue;
    if (!row.predicted) {
      breaches.push_back({row.suite, fmt::format("{}: not predicted: {}", row.label, row.reason),
                          row.file, row.line});
    } else if (tolerance.row && std::abs(row.error()) > *tolerance.row) {
      breaches.push_back({row.suite,
                          fmt::format("{}: {} beyond {} of a row", row.label,
                                      percent(row.error(), "+"), percent(*tolerance.row)),
                          row.file, row.line});
    }
  }
  if (!is_whole || rows.empty()) return breaches;
  for (const SuiteLimit& limit : limits_of(score, tolerance)) {
    if (limit.name != "row" && !limit.holds())
      breaches.push_back(
          {rows.front().suite,
           fmt::format("{} {} above {}", limit.name, percent(limit.actual), percent(limit.limit)),
           "", 0, limit.name});
  }
  return breaches;
}

std::vector<RecordedErrors> recorded(const std::string& suite, const Score& score) {
  std::vector<RecordedErrors> list;
  const auto add = [&](const std::string& name, const std::string& value, const Errors& errors) {
    // A suite without a predicted row has no errors that a later version could be worse than.
    if (errors.count > 0) list.push_back(record_of(suite, name, value, errors));
  };
  add("", "", score.all);
  if (!list.empty() && !score.not_fitting.empty())
    list.front().not_fitting = static_cast<int>(score.not_fitting.size());
  for (const GroupScore& group : score.groups) add(group.name, group.value, group.all);
  return list;
}

std::vector<Breach> worse_than(const std::vector<RecordedErrors>& record,
                               const std::vector<RecordedErrors>& now) {
  std::vector<Breach> breaches;
  for (const RecordedErrors& group : now) {
    const RecordedErrors* before = find(record, group);
    if (before == nullptr) {
      breaches.push_back(
          {group.suite, title_of(group) + ": not in the record; --record adds it", "", 0});
    } else if (group.mean > before->mean * (1 + kMarginShare) + kMarginPoints) {
      breaches.push_back({group.suite,
                          fmt::format("{}: mean {}, recorded {}", title_of(group),
                                      percent(group.mean), percent(before->mean)),
                          "", 0});
    }
    if (before != nullptr && not_fitting(group) > not_fitting(*before))
      breaches.push_back(
          {group.suite,
           fmt::format("{}: {} rows that ran are predicted not to fit in memory, recorded {}",
                       title_of(group), not_fitting(group), not_fitting(*before)),
           "", 0});
  }
  return breaches;
}

std::string difference(const std::vector<RecordedErrors>& record,
                       const std::vector<RecordedErrors>& now) {
  std::string text;
  for (const RecordedErrors& group : now) {
    const RecordedErrors* before = find(record, group);
    if (before == nullptr) {
      text += fmt::format("  {:<48} new, mean {}\n", title_of(group), percent(group.mean));
    } else if (rounded(before->mean) != rounded(group.mean) || before->rows != group.rows) {
      text += fmt::format(
          "  {:<48} mean {} -> {}{}\n", title_of(group), percent(before->mean), percent(group.mean),
          before->rows == group.rows ? ""
                                     : fmt::format(", rows {} -> {}", before->rows, group.rows));
    }
    if (before != nullptr && not_fitting(*before) != not_fitting(group))
      text += fmt::format("  {:<48} not fitting {} -> {}\n", title_of(group), not_fitting(*before),
                          not_fitting(group));
  }
  for (const RecordedErrors& before : record) {
    const bool scored = std::ranges::any_of(
        now, [&](const RecordedErrors& group) { return group.suite == before.suite; });
    if (scored && find(now, before) == nullptr)
      text += fmt::format("  {:<48} gone\n", title_of(before));
  }
  return text;
}

std::vector<RecordedErrors> updated(const std::vector<RecordedErrors>& record,
                                    const std::vector<RecordedErrors>& now) {
  std::vector<RecordedErrors> list;
  const auto is_scored = [&](const RecordedErrors& one) {
    return std::ranges::any_of(
        now, [&](const RecordedErrors& group) { return group.suite == one.suite; });
  };
  std::copy_if(record.begin(), record.end(), std::back_inserter(list),
               [&](const RecordedErrors& one) { return !is_scored(one); });
  list.insert(list.end(), now.begin(), now.end());
  std::ranges::stable_sort(list, {}, &RecordedErrors::suite);
  for (RecordedErrors& one : list) {
    for (double* share : {&one.mean, &one.median, &one.p90, &one.max, &one.bias})
      *share = rounded(*share);
  }
  return list;
}

std::vector<RecordedChoices> recorded_choices(const std::string& suite, const Score& score) {
  if (score.choices.jobs == 0) return {};
  return {recorded(suite, false, score.expected_choices), recorded(suite, true, score.choices)};
}

std::vector<Breach> worse_than(const std::vector<RecordedChoices>& record,
                               const std::vector<RecordedChoices>& now) {
  std::vector<Breach> breaches;
  for (const RecordedChoices& one : now) {
    const RecordedChoices* before = find(record, one);
    if (before == nullptr) {
      breaches.push_back({one.suite, "choices: not in the record; --record adds them", "", 0});
    } else if (one.loss > before->loss + kMarginPoints) {
      breaches.push_back(
          {one.suite,
           fmt::format("{}: what is predicted to be the fastest loses {}, recorded {}",
                       title_of(one), percent(one.loss), percent(before->loss)),
           "", 0});
    }
  }
  return breaches;
}

std::string difference(const std::vector<RecordedChoices>& record,
                       const std::vector<RecordedChoices>& now) {
  std::string text;
  for (const RecordedChoices& one : now) {
    const RecordedChoices* before = find(record, one);
    const std::string title = fmt::format("{}, {}", one.suite, title_of(one));
    if (before == nullptr)
      text += fmt::format("  {:<48} new, loss {}\n", title, percent(one.loss));
    else if (rounded(before->loss) != rounded(one.loss))
      text +=
          fmt::format("  {:<48} loss {} -> {}\n", title, percent(before->loss), percent(one.loss));
  }
  return text;
}

std::vector<RecordedGrowth> updated(const std::vector<RecordedGrowth>& record,
                                    const std::vector<RecordedGrowth>& now,
                                    const std::vector<std::string>& scored) {
  return with_others(record, now, scored, {&RecordedGrowth::slope, &RecordedGrowth::uncertainty});
}

std::vector<RecordedChoices> updated(const std::vector<RecordedChoices>& record,
                                     const std::vector<RecordedChoices>& now,
                                     const std::vector<std::string>& scored) {
  return with_others(
      record, now, scored,
      {&RecordedChoices::loss, &RecordedChoices::blind_loss, &RecordedChoices::largest_loss});
}

}  // namespace stepsim
