// An index of results: what a folder of them says, side by side and one after another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/measure/comparison.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// A result of `stepsim run --format json`.
struct IndexEntry {
  std::string file;  ///< its name in the folder
  std::string page;  ///< where its page is, seen from the index; empty: it has none
  ResultFacts result;
  std::optional<Seconds> baseline;  ///< the step of its scenario in the baseline
};

/// A page of any command that belongs to no result.
struct IndexPage {
  std::string page;  ///< where it is, seen from the index
  std::string title;
};

struct IndexReport {
  std::string folder;
  std::string baseline;  ///< file or folder of the results that all are compared with; empty: none
  std::vector<IndexEntry> entries;  ///< in the order of their names
  std::vector<IndexPage> pages;
  std::vector<std::string> skipped;  ///< files that are no such result, and why
};

/// A line for each result.
std::string index_text(const IndexReport& report, const Screen& screen);
/// The index as JSON of schema stepsim.index/1.
std::string index_json(const IndexReport& report);

}  // namespace stepsim
