// A row to a record, with every mistake in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/calibrate/measurement/point_record.hpp"
#include "sim/calibrate/measurement/written_record.hpp"
#include "sim/core/problems.hpp"
#include "sim/core/suggest.hpp"

namespace stepsim {

/// Takes values out of a row by name; what is left over in the end is unknown. A mistake goes to
/// the problems, and gives nothing.
class FieldReader {
 public:
  FieldReader(const WrittenRecord& row, Problems& problems) : row_(row), problems_(problems) {}

  bool has(const std::string& name) const { return row_.find(name) != nullptr; }
  /// Whether the record has a name that need not be there; a misspelt one is then proposed.
  bool offers(const std::string& name);
  /// Nothing and a problem when it is missing.
  const WrittenField* take(const std::string& name);

  std::optional<std::string> text(const std::string& name);
  /// At least `least`, or above 0 where nothing is given.
  std::optional<double> number(const std::string& name, std::optional<double> least = {});
  std::optional<std::int64_t> integer(const std::string& name, std::int64_t least,
                                      std::int64_t most = kLargest);
  std::optional<bool> flag(const std::string& name);
  template <class E>
  std::optional<E> word(const std::string& name) {
    const WrittenField* entry = take(name);
    if (entry == nullptr) return {};
    std::optional<E> found;
    if (entry->written == ValueForm::bare || entry->written == ValueForm::text)
      found = find_measured<E>(entry->written == ValueForm::bare ? without_alias(entry->text)
                                                                 : entry->text);
    if (!found)
      refuse(*entry, "unknown " + name + " " + quoted(entry->text),
             did_you_mean(entry->text, measured_names<E>()));
    return found;
  }

  void nothing_else();
  void refuse(const WrittenField& entry, const std::string& message,
              const std::string& proposal = "");
  bool good() const { return good_; }

  /// The word of the format for another program's: "half" is fp16.
  static std::string without_alias(const std::string& word);

  static constexpr std::int64_t kLargest = std::int64_t{1}
                                           << 50;  ///< a pebibyte, or as many elements

 private:
  const WrittenRecord& row_;
  Problems& problems_;
  std::vector<std::string> asked_;
  bool good_ = true;
};

/// What a table need not say: one kernel at a time, the forward layout, no spread of the times.
void add_table_defaults(WrittenRecord& row);

/// Nothing when there was a mistake.
std::optional<PointRecord> read_record(const WrittenRecord& row, Problems& problems);

}  // namespace stepsim
