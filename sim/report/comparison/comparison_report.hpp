// Writers of a comparison, one for each kind of reader, and the words and tables that they share.
#pragma once

#include <string>
#include <vector>

#include "sim/report/measure/comparison.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// The comparison for a terminal of screen.width columns (80 at least).
std::string comparison_text(const Comparison& comparison, const Screen& screen);
/// The comparison as JSON of schema stepsim.comparison/1.
std::string comparison_json(const Comparison& comparison);
/// The comparison as CSV, one line a number: what it is, its unit, and its value in each run.
std::string comparison_csv(const Comparison& comparison);
/// The comparison as tables for a pull request.
std::string comparison_markdown(const Comparison& comparison);

/// A sentence, and what it is about: a label, or a word such as "Memory".
struct Remark {
  enum class Tone { plain, good, bad };
  std::string about, text;
  Tone tone = Tone::plain;
};
/// By what each run differs from the first, and what to know about that.
std::vector<Remark> remarks_on(const Comparison& comparison);

struct TextRow {
  std::string title;
  std::vector<std::string> cells;
  int best = -1;  ///< index of the cell of the best run; -1: no run is the best, or all are
  bool is_sum = false;
  /// true: the row holds words, which do not count for the width of columns
  bool is_words = false;
};
struct TextTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<TextRow> rows;
};
/// The keys and hashes that differ. Where models or clusters have different names, one line with
/// the names stands for their keys, except for the number of nodes.
TextTable input_table(const Comparison& comparison);
/// What is measured of each run in a column; two runs have their difference in two more columns.
TextTable answer_table(const Comparison& comparison);
/// The causes by their difference, as time and in per cent of the first step. Causes that are less
/// than 0.05 % of it share a line.
TextTable cause_table(const Comparison& comparison);

/// The title of a cause: "waiting for kernel launches" for launch_gap; a name that this version
/// does not know stays as it is.
std::string title_of_cause(const std::string& name);

/// Where a run comes from: "gpt-small, gpt.yaml", "A with host.launch=5 us".
std::string origin_of(const Comparison& comparison, std::size_t i);

}  // namespace stepsim
