// Text to measurements.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/measurement/measurements.hpp"

namespace stepsim::calib {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw UserError(fmt::format("{}: {}", where, what));
}

/// Takes keys out of a map, so that those left over are unknown ones.
class Fields {
 public:
  Fields(const Json& map, std::string where) : where_(std::move(where)) {
    if (!map.is_object()) refuse(where_, "not a map");
    for (const auto& [key, value] : map.items()) left_.emplace(key, value);
  }

  bool has(const std::string& key) const { return left_.count(key) > 0; }

  Json take(const std::string& key) {
    asked_.push_back(key);
    const auto found = left_.find(key);
    if (found == left_.end()) refuse(where_, fmt::format("'{}' is missing", key));
    Json value = found->second;
    left_.erase(found);
    return value;
  }

  std::string text(const std::string& key) {
    const Json value = take(key);
    if (!value.is_string())
      refuse(where_, fmt::format("'{}' is {}, not a text", key, value.dump()));
    return value.get<std::string>();
  }

  /// At least `least`, or above 0 where nothing is given.
  double number(const std::string& key, std::optional<double> least = {}) {
    const Json value = take(key);
    if (!value.is_number())
      refuse(where_, fmt::format("'{}' is {}, not a number", key, value.dump()));
    const auto number = value.get<double>();
    if (!std::isfinite(number) || (least ? number < *least : number <= 0))
      refuse(where_, fmt::format("'{}' is {}, which is not {}", key, value.dump(),
                                 least ? fmt::format("at least {}", *least) : "positive"));
    return number;
  }

  std::int64_t integer(const std::string& key, std::int64_t least) {
    const Json value = take(key);
    if (!value.is_number_integer() || value.get<std::int64_t>() < least)
      refuse(where_, fmt::format("'{}' is {}, not a whole number of at least {}", key, value.dump(),
                                 least));
    return value.get<std::int64_t>();
  }

  bool flag(const std::string& key) {
    const Json value = take(key);
    if (!value.is_boolean())
      refuse(where_, fmt::format("'{}' is {}, neither true nor false", key, value.dump()));
    return value.get<bool>();
  }

  template <class E>
  E word(const std::string& key) {
    const std::string name = text(key);
    const auto found = find_word<E>(name);
    if (!found)
      refuse(where_, fmt::format("unknown {} '{}', {}", key, name, did_you_mean(name, names<E>())));
    return *found;
  }

  void nothing_else() const {
    if (left_.empty()) return;
    const std::string& key = left_.begin()->first;
    refuse(where_, fmt::format("unknown key '{}', {}", key, did_you_mean(key, asked_)));
  }

 private:
  std::string where_;
  std::map<std::string, Json> left_;
  std::vector<std::string> asked_;
};

void read_into(Fields& fields, const char* name, std::int64_t& value) {
  value = fields.integer(name, 1);
}
void read_into(Fields& fields, const char* name, bool& value) { value = fields.flag(name); }
template <class E>
void read_into(Fields& fields, const char* name, E& value) {
  value = fields.word<E>(name);
}

Measured read_measured(Fields& fields, Kind kind) {
  Measured measured;
  if (kind == Kind::queue) {
    measured.launches = fields.integer("launches", 1);
  } else {
    measured.timing = {fields.number("seconds"), fields.number("p10"), fields.number("p90"),
                       static_cast<int>(fields.integer("repeats", 1))};
  }
  if (kind == Kind::overlap) measured.alone_seconds = fields.number("alone_seconds");
  if (fields.has("sm_clock_hz")) measured.sm_clock_hz = fields.number("sm_clock_hz");
  if (fields.has("power_w")) measured.power_w = fields.number("power_w");
  return measured;
}

Record read_record(const Json& json, const std::string& where) {
  Fields fields(json, where);
  const auto kind = fields.word<Kind>("kind");
  Record record{blank_point(kind), {}, ""};
  for_each_field(record.point,
                 [&](const char* name, auto& value) { read_into(fields, name, value); });
  if (fields.has("skipped")) {
    record.skipped = fields.text("skipped");
    if (record.skipped.empty()) refuse(where, "'skipped' gives no reason");
  } else {
    record.measured = read_measured(fields, kind);
  }
  fields.nothing_else();
  return record;
}

DeviceFacts read_device(const Json& json, const std::string& where) {
  Fields fields(json, where);
  DeviceFacts device;
  device.name = fields.text("name");
  const std::string capability = fields.text("compute_capability");
  char after = 0;
  if (std::sscanf(capability.c_str(), "%d.%d%c", &device.compute_major, &device.compute_minor,
                  &after) != 2)
    refuse(where, fmt::format("'compute_capability' is '{}', not like '9.0'", capability));
  device.sms = fields.integer("sms", 0);
  device.memory_bytes = fields.integer("memory_bytes", 0);
  device.l2_bytes = fields.integer("l2_bytes", 0);
  device.memory_bus_bits = fields.integer("memory_bus_bits", 0);
  device.max_sm_clock_hz = fields.number("max_sm_clock_hz", 0);
  device.max_memory_clock_hz = fields.number("max_memory_clock_hz", 0);
  device.power_limit_w = fields.number("power_limit_w", 0);
  device.gpus = fields.integer("gpus", 1);
  fields.nothing_else();
  return device;
}

Json parse_json(const std::string& text, const std::string& file) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t end = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(end), '\n');
    refuse(fmt::format("{}:{}", file, line), "this is no JSON, or its end is missing");
  }
}

/// The line on which each record begins: each map in a list of the outermost map. REQUIRES: JSON.
std::vector<std::size_t> lines_of_records(const std::string& text) {
  std::vector<std::size_t> lines;
  std::string open;  // brackets around the current character
  std::size_t line = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{' && open == "{[") lines.push_back(line);
    if (c == '{' || c == '[') open += c;
    if (c == '}' || c == ']') open.pop_back();
  }
  return lines;
}

}  // namespace

Measurements parse_measurements(const std::string& text, const std::string& file) {
  const Json json = parse_json(text, file);
  Fields fields(json, file);
  if (const std::string schema = fields.text("schema"); schema != kMeasurementSchema)
    refuse(file,
           fmt::format("the schema is '{}', this program reads '{}'", schema, kMeasurementSchema));
  Measurements measurements;
  measurements.device = read_device(fields.take("device"), file + ", device");
  const Json software = fields.take("software");
  Fields versions(software, file + ", software");
  for (const auto& [name, version] : software.items())
    measurements.software[name] = versions.text(name);
  measurements.started = fields.text("started");
  const Json points = fields.take("points");
  if (!points.is_array()) refuse(file, "'points' is not a list");
  fields.nothing_else();
  const std::vector<std::size_t> lines = lines_of_records(text);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string where = i < lines.size() ? fmt::format("{}:{}", file, lines[i]) : file;
    measurements.records.push_back(read_record(points[i], where));
    if (const auto name = identity(measurements.records.back().point); !seen.insert(name).second)
      refuse(where, fmt::format("'{}' is there twice", name));
  }
  return measurements;
}

}  // namespace stepsim::calib
