// A validation suite: measured runs, and the scenarios that predict them.
//
// A suite is what validate/suites/NAME.yaml says: a base scenario, a table of measured runs, and
// how the table's columns become keys of the scenario. docs/validation.md has the format.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/core/source.hpp"
#include "sim/core/table.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/read/tree.hpp"
#include "sim/scenario/suite/tolerance.hpp"

namespace stepsim {

/// An expression over the columns of a table, as it is written.
struct Phrase {
  std::string text;
  Place place;  ///< place of its first character
  /// What its values stand for; empty: for themselves.
  std::vector<std::pair<std::string, std::string>> values;
  std::optional<std::string> otherwise;  ///< what all others stand for; absent: a mistake
};

struct NamedPhrase {
  std::string name;
  Place place;  ///< place of the name
  Phrase phrase;
};

/// The time of a step.
struct MeasuredTime {
  Phrase value;
  std::string unit;  ///< ms
};

/// Rows that are not expected to be met.
struct KnownGap {
  Phrase where;
  std::string reason;
};

struct Suite {
  std::string name, title, source;
  std::string publisher;  ///< who measured; suites of one publisher are one source
  std::vector<std::string> assumptions;
  Tree scenario;                 ///< the base, a map
  Library library;               ///< in which every row finds what it names
  std::string table;             ///< a file beside the suite; empty: `rows`
  Tree rows;                     ///< a list of maps, or nothing
  Phrase where;                  ///< the rows that are used; empty: all
  std::vector<NamedPhrase> map;  ///< keys of the scenario
  /// What keys would be for somebody who knows the hardware, but nothing that the publisher
  /// measured of it. Empty: no key's value was measured by the publisher.
  std::vector<NamedPhrase> unseen;
  MeasuredTime measured;
  Phrase label;
  std::vector<NamedPhrase> groups;
  Tolerance tolerance;
  std::vector<KnownGap> known;
};

/// A row of a suite's table, ready to be predicted.
struct MeasuredRun {
  std::string label;
  Place place;                                                ///< place of the row
  std::optional<Seconds> measured;                            ///< a step; absent: not readable
  std::vector<std::pair<std::string, std::string>> settings;  ///< scenario path and value
  std::vector<std::pair<std::string, std::string>> unseen;    ///< as `settings`, over these
  std::vector<std::pair<std::string, std::string>> groups;    ///< name and value
  std::string known;    ///< why it is not expected to be met; empty: it is
  std::string refusal;  ///< why it has no scenario; empty: it has one
};

}  // namespace stepsim
