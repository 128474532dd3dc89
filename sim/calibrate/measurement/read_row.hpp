// A row to a record, with every mistake in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/calibrate/measurement/record.hpp"
#include "sim/calibrate/measurement/row.hpp"
#include "sim/core/problems.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim::calib {

/// Takes values out of a row by name; what is left over in the end is unknown. A mistake goes to
/// the problems, and gives nothing.
class RowReader {
 public:
  RowReader(const Row& row, Problems& problems) : row_(row), problems_(problems) {}

  bool has(const std::string& name) const { return row_.find(name) != nullptr; }
  /// The same of a name that need not be there, and is proposed for a misspelt one.
  bool offers(const std::string& name);
  /// Nothing and a problem when it is missing.
  const Entry* take(const std::string& name);

  std::optional<std::string> text(const std::string& name);
  /// At least `least`, or above 0 where nothing is given.
  std::optional<double> number(const std::string& name, std::optional<double> least = {});
  std::optional<std::int64_t> integer(const std::string& name, std::int64_t least,
                                      std::int64_t most = kLargest);
  std::optional<bool> flag(const std::string& name);
  template <class E>
  std::optional<E> word(const std::string& name) {
    const Entry* entry = take(name);
    if (entry == nullptr) return {};
    std::optional<E> found;
    if (entry->written == Written::bare || entry->written == Written::text)
      found =
          find_word<E>(entry->written == Written::bare ? without_alias(entry->text) : entry->text);
    if (!found)
      refuse(*entry, "unknown " + name + " " + quoted(entry->text),
             did_you_mean(entry->text, names<E>()));
    return found;
  }

  void nothing_else();
  void refuse(const Entry& entry, const std::string& message, const std::string& proposal = "");
  bool good() const { return good_; }

  /// Other programs' words: "half" is fp16.
  static std::string without_alias(const std::string& word);

  static constexpr std::int64_t kLargest = std::int64_t{1}
                                           << 50;  ///< a pebibyte, or as many elements

 private:
  const Row& row_;
  Problems& problems_;
  std::vector<std::string> asked_;
  bool good_ = true;
};

/// What a table need not say: one kernel at a time, the forward layout, no spread of the times.
void add_table_defaults(Row& row);

/// Nothing when there was a mistake.
std::optional<Record> read_record(const Row& row, Problems& problems);

}  // namespace stepsim::calib
