// Rows of JSON.
#include "sim/calibrate/measurement/row.hpp"

namespace stepsim::calib {
namespace {

Written written_as(JsonTree::Kind kind) {
  switch (kind) {
    case JsonTree::Kind::flag:
      return Written::flag;
    case JsonTree::Kind::number:
      return Written::number;
    case JsonTree::Kind::text:
      return Written::text;
    default:
      return Written::other;
  }
}

}  // namespace

Row row_of(const JsonTree& map) {
  Row row{map.place, {}};
  for (const JsonTree::Member& member : map.members) {
    const JsonTree& value = member.value;
    const std::string shown = value.is(JsonTree::Kind::list)  ? "[...]"
                              : value.is(JsonTree::Kind::map) ? "{...}"
                                                              : value.text;
    row.entries.push_back({member.name, member.place, shown, value.place, written_as(value.kind)});
  }
  return row;
}

}  // namespace stepsim::calib
