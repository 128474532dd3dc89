// The JSON that measuring programs of stepsim write.
#include <algorithm>

#include <fmt/format.h>

#include "sim/calibrate/measurement/read_form.hpp"
#include "sim/calibrate/measurement/read_record.hpp"

namespace stepsim {
namespace {

using Form = JsonTree::Kind;

const char* title_of(Form kind) {
  return kind == Form::map ? "a map" : kind == Form::list ? "a list" : "a text";
}

/// The parts of a file, by name.
class Parts {
 public:
  Parts(const JsonTree& json, Problems& problems) : json_(json), problems_(problems) {}

  /// nullptr and a problem where it is missing or something else.
  const JsonTree* take(const std::string& name, Form kind) {
    asked_.push_back(name);
    const JsonTree* part = json_.find(name);
    if (part == nullptr) {
      problems_.add(json_.place, "", fmt::format("'{}' is missing", name));
    } else if (!part->is(kind)) {
      problems_.add(part->place, "", fmt::format("'{}' is not {}", name, title_of(kind)));
      return nullptr;
    }
    return part;
  }

  void nothing_else() {
    for (const JsonTree::Member& member : json_.members) {
      if (std::ranges::find(asked_, member.name) != asked_.end()) continue;
      problems_.add(member.place, "", fmt::format("unknown key {}", quoted(member.name)),
                    did_you_mean(member.name, asked_));
    }
  }

 private:
  const JsonTree& json_;
  Problems& problems_;
  std::vector<std::string> asked_;
};

void read_points(const JsonTree& points, MeasuredFile& file, Problems& problems) {
  for (const JsonTree& point : points.items) {
    if (!point.is(Form::map)) {
      problems.add(point.place, "", "a point is a map of its fields");
      continue;
    }
    const auto record = read_record(written_record(point), problems);
    if (!record) continue;
    file.content.records.push_back(*record);
    file.places.push_back(point.place);
  }
}

}  // namespace

void read_schema_json(const JsonTree& json, MeasuredFile& file, Problems& problems) {
  if (!json.is(Form::map)) {
    problems.add(json.place, "", "a file of measurements is a map with a 'schema'");
    return;
  }
  Parts parts(json, problems);
  const JsonTree* schema = parts.take("schema", Form::text);
  if (schema == nullptr) return;
  if (schema->text != kMeasurementSchema) {
    problems.add(schema->place, "",
                 fmt::format("the schema is {}, this program reads '{}'", quoted(schema->text),
                             kMeasurementSchema));
    return;
  }
  if (const JsonTree* device = parts.take("device", Form::map))
    file.content.device = read_device(written_record(*device), true, problems);
  if (const JsonTree* software = parts.take("software", Form::map)) {
    const WrittenRecord row = written_record(*software);
    FieldReader versions(row, problems);
    for (const WrittenField& entry : row.fields)
      file.content.software[entry.name] = versions.text(entry.name).value_or("");
  }
  if (const JsonTree* started = parts.take("started", Form::text))
    take_started(started->text, started->place, file, problems);
  if (const JsonTree* points = parts.take("points", Form::list))
    read_points(*points, file, problems);
  parts.nothing_else();
}

}  // namespace stepsim
