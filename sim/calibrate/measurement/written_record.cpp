// Rows of JSON.
#include "sim/calibrate/measurement/written_record.hpp"

namespace stepsim {
namespace {

ValueForm written_as(JsonTree::Kind kind) {
  switch (kind) {
    case JsonTree::Kind::flag:
      return ValueForm::flag;
    case JsonTree::Kind::number:
      return ValueForm::number;
    case JsonTree::Kind::text:
      return ValueForm::text;
    default:
      return ValueForm::other;
  }
}

}  // namespace

WrittenRecord written_record(const JsonTree& map) {
  WrittenRecord row{map.place, {}};
  for (const JsonTree::Member& member : map.members) {
    const JsonTree& value = member.value;
    const std::string shown = value.is(JsonTree::Kind::list)  ? "[...]"
                              : value.is(JsonTree::Kind::map) ? "{...}"
                                                              : value.text;
    row.fields.push_back({member.name, member.place, shown, value.place, written_as(value.kind)});
  }
  return row;
}

}  // namespace stepsim
