// Writers of a validation, one for each kind of reader: a person, a program, a CI server, a
// document.
#pragma once

#include <string>

#include "sim/text/layout.hpp"
#include "sim/validation/validation.hpp"

namespace stepsim {

struct ValidationTable {
  Screen screen{.width = 100};
  bool rows = true;     ///< true: every row, not the worst alone
  bool causes = false;  ///< true: the breakdown of each row as well
};

/// The validation for a terminal, in at most 100 columns.
std::string validation_text(const Validation& validation, const ValidationTable& options);
/// The validation as JSON of schema stepsim.validation/1.
std::string validation_json(const Validation& validation);
/// The validation as CSV, one line a row.
std::string validation_csv(const Validation& validation);
/// The validation as JUnit XML, a case for each row and for each limit.
std::string validation_junit(const Validation& validation);
/// The validation as annotations of GitHub's checks (`::error file=...`), one for each breach.
std::string validation_github(const Validation& validation);
/// The validation as tables for a document.
std::string validation_markdown(const Validation& validation);

}  // namespace stepsim
