// Writers of a comparison, one for each reader, and the words and tables that they share.
#pragma once

#include <string>
#include <vector>

#include "sim/report/measure/comparison.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// For a terminal of style.width columns (80 at least).
std::string comparison_text(const Comparison& comparison, const Style& style);
/// Schema stepsim.comparison/1.
std::string comparison_json(const Comparison& comparison);
/// One line a number: what it is, its unit, and it in each run.
std::string comparison_csv(const Comparison& comparison);
/// Tables for a pull request.
std::string comparison_markdown(const Comparison& comparison);

/// Something said, and what it is about: a label, or a word such as "Memory".
struct Remark {
  enum class Tone { plain, good, bad };
  std::string about, text;
  Tone tone = Tone::plain;
};
/// What each differs from the first by, and what to know about that.
std::vector<Remark> remarks_on(const Comparison& comparison);

struct TextRow {
  std::string title;
  std::vector<std::string> cells;
  int best = -1;  ///< index of the cell of the best run; -1: none is, or all are
  bool is_sum = false;
  bool is_words = false;  ///< not a number: for the width of columns it does not count
};
struct TextTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<TextRow> rows;
};
/// Keys and hashes that differ. Those of models or clusters of different names are one line, the
/// name, except for the number of nodes.
TextTable input_table(const Comparison& comparison);
/// Of two runs with their difference in two columns, of several each in one.
TextTable answer_table(const Comparison& comparison);
/// Causes by their difference, as time and in per cent of the first step; those that are less than
/// 0.05 % of it in a line together.
TextTable cause_table(const Comparison& comparison);

/// "waiting for kernel launches" of launch_gap; a name that this version does not know, as it is.
std::string title_of_cause(const std::string& name);

/// "gpt-small, gpt.yaml", "A with host.launch=5 us".
std::string origin_of(const Comparison& comparison, std::size_t i);

}  // namespace stepsim
