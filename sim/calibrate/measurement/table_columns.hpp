// What the columns of a table hold, by their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stepsim {

/// What a column holds.
struct TableColumn {
  std::string field;  ///< "": it is left out
  double unit = 1;
};

/// All names of fields and results, of all kinds.
const std::vector<std::string>& field_names();
bool is_field(const std::string& name);

/// A name that ends in its unit: "time_us", "size_bytes", "bytes_mib". Nothing when it does not.
std::optional<TableColumn> with_unit(const std::string& name);

}  // namespace stepsim
