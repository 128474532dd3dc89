// Writes a validation as CSV: one line a row.
#include "sim/report/validation.hpp"
#include "sim/text/csv_cell.hpp"
#include "sim/text/digits.hpp"

namespace stepsim {
namespace {

std::string groups_of(const ValidationRow& row) {
  std::string text;
  for (const auto& [name, value] : row.groups)
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", name, value);
  return text;
}

}  // namespace

std::string validation_csv(const Validation& validation) {
  std::string text = "suite,row,groups,measured_s,predicted_s,error,known,reason,memory_fraction";
  for (std::size_t i = 0; i < kCauses; ++i)
    text += fmt::format(",{}_s", name_of(static_cast<Cause>(i)));
  text += "\n";
  for (const ValidationRow& row : validation.rows) {
    const bool known = row.predicted.has_value();
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{}", csv_cell(row.suite), csv_cell(row.label),
                    csv_cell(groups_of(row)), row.measured ? digits(row.measured->seconds()) : "",
                    known ? digits(row.predicted->step.seconds()) : "",
                    known ? digits(row.error()) : "", csv_cell(row.known), csv_cell(row.reason),
                    known ? digits(row.predicted->memory_share) : "");
    for (std::size_t i = 0; i < kCauses; ++i)
      text += "," + (known ? digits(row.predicted->breakdown[i]) : "");
    text += "\n";
  }
  return text;
}

}  // namespace stepsim
