// Writers of a validation, one for each reader: a person, a program, a CI server, a document.
#pragma once

#include <string>

#include "sim/text/layout.hpp"
#include "sim/validation/validation.hpp"

namespace stepsim {

struct ValidationTable {
  Style style{.width = 100};
  bool rows = true;     ///< every row, not the worst alone
  bool causes = false;  ///< the breakdown of each row
};

/// For a terminal, at most 100 columns.
std::string validation_text(const Validation& validation, const ValidationTable& options);
/// Schema stepsim.validation/1.
std::string validation_json(const Validation& validation);
/// One line a row.
std::string validation_csv(const Validation& validation);
/// JUnit XML, one case a row and one a limit.
std::string validation_junit(const Validation& validation);
/// Annotations of GitHub's checks (`::error file=...`), one a breach.
std::string validation_github(const Validation& validation);
/// Tables for a document.
std::string validation_markdown(const Validation& validation);
/// A picture (SVG): predicted over measured, logarithmic; suites, or groups of a lone one, by
/// marks.
std::string validation_scatter(const Validation& validation);

}  // namespace stepsim
