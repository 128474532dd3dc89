// A record as it stands in a file, whatever the file's form: names and values with their places.
#pragma once

#include <string>
#include <vector>

#include "sim/core/json_tree.hpp"
#include "sim/core/source.hpp"

namespace stepsim {

/// What a value was written as. Tables have `bare` values, which may be anything.
enum class ValueForm { bare, text, number, flag, other };

struct WrittenField {
  std::string name;
  Place name_place;
  std::string text;  ///< the value without quotes
  Place place;
  ValueForm written = ValueForm::bare;
  double unit = 1;  ///< what a number is multiplied by: 1e-6 in a column of microseconds
};

struct WrittenRecord {
  Place place;
  std::vector<WrittenField> fields;
  bool may_be_short = false;  ///< percentiles and repeats need not be there, as in tables

  const WrittenField* find(const std::string& name) const {
    for (const WrittenField& entry : fields)
      if (entry.name == name) return &entry;
    return nullptr;
  }
};

/// A map of scalars as a row.
WrittenRecord written_record(const JsonTree& map);

}  // namespace stepsim
