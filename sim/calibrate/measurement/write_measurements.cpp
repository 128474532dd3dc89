// Measurements to text.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/calibrate/measurement/measurements.hpp"
#include "sim/core/error.hpp"

namespace stepsim {
namespace {

using Json = nlohmann::ordered_json;

double finite(double number) {
  if (!std::isfinite(number)) throw InternalError("a measurement is not a finite number");
  return number;
}

Json device_json(const DeviceFacts& device) {
  return {{"name", device.name},
          {"compute_capability", fmt::format("{}.{}", device.compute_major, device.compute_minor)},
          {"sms", device.sms},
          {"memory_bytes", device.memory_bytes},
          {"l2_bytes", device.l2_bytes},
          {"memory_bus_bits", device.memory_bus_bits},
          {"max_sm_clock_hz", finite(device.max_sm_clock_hz)},
          {"max_memory_clock_hz", finite(device.max_memory_clock_hz)},
          {"power_limit_w", finite(device.power_limit_w)},
          {"gpus", device.gpus}};
}

Json point_json(const Point& point) {
  Json json = {{"kind", name_of(kind_of(point))}};
  for_each_told_field(point, [&](const char* name, const auto& value) {
    if constexpr (std::is_enum_v<std::decay_t<decltype(value)>>) {
      json[name] = name_of(value);
    } else {
      json[name] = value;
    }
  });
  return json;
}

void add_measured(Json& json, const Measured& measured) {
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = finite(*value);
  };
  if (measured.launches) {
    json["launches"] = *measured.launches;
  } else {
    json["seconds"] = finite(measured.timing.seconds);
    json["p10"] = finite(measured.timing.p10);
    json["p90"] = finite(measured.timing.p90);
    json["repeats"] = measured.timing.repeats;
  }
  add("alone_seconds", measured.alone_seconds);
  if (measured.products) json["products"] = *measured.products;
  if (measured.with_launch) json["with_launch"] = true;
  add("sm_clock_hz", measured.sm_clock_hz);
  add("power_w", measured.power_w);
}

std::string line_of(const PointRecord& record) {
  Json json = point_json(record.point);
  if (record.skipped.empty()) {
    add_measured(json, record.measured);
  } else {
    json["skipped"] = record.skipped;
  }
  return json.dump();
}

}  // namespace

std::string to_json(const Measurements& measurements) {
  std::string text = fmt::format(
      "{{\"schema\": \"{}\",\n \"device\": {},\n \"software\": {},\n \"started\": {},\n"
      " \"points\": [",
      kMeasurementSchema, device_json(measurements.device).dump(),
      Json(measurements.software).dump(), Json(measurements.started).dump());
  const char* separator = "\n  ";
  for (const PointRecord& record : measurements.records) {
    text += separator + line_of(record);
    separator = ",\n  ";
  }
  return text + "\n]}\n";
}

}  // namespace stepsim
