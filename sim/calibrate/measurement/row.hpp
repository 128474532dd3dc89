// A record as it stands in a file, whatever the file's form: names and values with their places.
#pragma once

#include <string>
#include <vector>

#include "sim/core/json_tree.hpp"
#include "sim/core/source.hpp"

namespace stepsim::calib {

/// What a value was written as. Tables have `bare` values, which may be anything.
enum class Written { bare, text, number, flag, other };

struct Entry {
  std::string name;
  Place name_place;
  std::string text;  ///< of the value, without quotes
  Place place;
  Written written = Written::bare;
  double unit = 1;  ///< what a number is multiplied by: 1e-6 in a column of microseconds
};

struct Row {
  Place place;
  std::vector<Entry> entries;
  bool may_be_short = false;  ///< percentiles and repeats need not be there, as in tables

  const Entry* find(const std::string& name) const {
    for (const Entry& entry : entries)
      if (entry.name == name) return &entry;
    return nullptr;
  }
};

/// A map of scalars as a row.
Row row_of(const JsonTree& map);

}  // namespace stepsim::calib
