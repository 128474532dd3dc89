// Takes medians over passes, and compares pairs of rows.
#include "validate/trainer/selfcheck/judgement.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/quantile.hpp"

namespace stepsim::selfcheck {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return interpolated_quantile(values, 0.5);
}

/// A number of each pass.
template <class Of>
std::vector<double> each(const Row& row, Of of) {
  std::vector<double> values;
  for (const Try& one : row.tries) values.push_back(of(one));
  return values;
}

struct Pair {
  double measured;  ///< seconds of the second row over those of the first: the median of the passes
  double predicted;
  bool decided;
};

Pair compare(const Row& a, const Row& b) {
  std::vector<double> measured, predicted;
  for (std::size_t i = 0; i < std::min(a.tries.size(), b.tries.size()); ++i) {
    measured.push_back(b.tries[i].measured / a.tries[i].measured);
    predicted.push_back(b.tries[i].predicted / a.tries[i].predicted);
  }
  const double ratio = median(measured);
  const auto against = std::count_if(measured.begin(), measured.end(),
                                     [&](double one) { return (one > 1) != (ratio > 1); });
  return {ratio, median(predicted), against == 0 && std::abs(std::log(ratio)) > kDistinct};
}

bool differ_in_workers(const Setting& a, Setting b) {
  b.workers = a.workers;
  return a == b && a.loads();
}

bool differ_in_bucket(const Setting& a, Setting b) {
  b.bucket_kib = a.bucket_kib;
  return a == b && a.ranks > 1;
}

std::vector<Row> sorted(std::vector<Row> rows, double (*seconds)(const Row&)) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return seconds(a) < seconds(b); });
  return rows;
}

std::string value_text(const Family& family, const Setting& setting) {
  return family.what == "bucket" ? bucket_text(setting) : std::to_string(setting.workers);
}

}  // namespace

double measured_seconds(const Row& row) {
  return median(each(row, [](const Try& one) { return one.measured; }));
}
double predicted_seconds(const Row& row) {
  return median(each(row, [](const Try& one) { return one.predicted; }));
}
double error_of(const Row& row) {
  return median(each(row, [](const Try& one) { return one.predicted / one.measured; })) - 1;
}

Errors errors_of(const std::vector<Row>& rows) {
  std::vector<double> errors;
  for (const Row& row : rows) errors.push_back(error_of(row));
  return stepsim::errors_of(errors);
}

std::vector<Family> families_of(const std::vector<Row>& rows) {
  std::vector<Family> families;
  struct Kind {
    const char* what;
    bool (*alike)(const Setting&, Setting);
  };
  for (const auto& [what, alike] :
       {Kind{"workers", differ_in_workers}, Kind{"bucket", differ_in_bucket}}) {
    const std::size_t begin = families.size();
    for (const Row& row : rows) {
      const auto own = std::find_if(families.begin() + static_cast<std::ptrdiff_t>(begin),
                                    families.end(), [&, &alike = alike](const Family& f) {
                                      return alike(row.setting, f.rows.front().setting);
                                    });
      if (own != families.end()) {
        own->rows.push_back(row);
      } else if (alike(row.setting, row.setting)) {
        families.push_back({what, {row}});
      }
    }
  }
  std::erase_if(families, [](const Family& family) { return family.rows.size() < 2; });
  return families;
}

Order order_of(const Family& family) {
  Order order;
  for (std::size_t i = 0; i < family.rows.size(); ++i) {
    for (std::size_t j = i + 1; j < family.rows.size(); ++j) {
      const Pair pair = compare(family.rows[i], family.rows[j]);
      ++order.pairs;
      if (!pair.decided) continue;
      ++order.decided;
      if (pair.predicted != 1 && (pair.predicted > 1) == (pair.measured > 1)) ++order.right;
    }
  }
  return order;
}

double regret_of(const Family& family) {
  const double best = measured_seconds(sorted(family.rows, measured_seconds).front());
  return measured_seconds(sorted(family.rows, predicted_seconds).front()) / best - 1;
}

std::string ranking_text(const Family& family, double (*seconds)(const Row&)) {
  std::vector<std::string> values;
  for (const Row& row : sorted(family.rows, seconds))
    values.push_back(value_text(family, row.setting));
  return fmt::format("{}", fmt::join(values, " < "));
}

}  // namespace stepsim::selfcheck
