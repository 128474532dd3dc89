// Which form a file has, and what holds for all forms.
#include "sim/calibrate/measurement/read_measurements.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "sim/calibrate/measurement/plausible.hpp"
#include "sim/calibrate/measurement/read_form.hpp"
#include "sim/calibrate/measurement/read_record.hpp"
#include "sim/core/error.hpp"
#include "sim/core/escapes.hpp"

namespace stepsim {
namespace {

/// Line and column of a byte.
Place place_of(const std::shared_ptr<const Source>& source, std::size_t offset) {
  const std::string& text = source->text;
  const auto begin = text.begin(), end = begin + static_cast<std::ptrdiff_t>(offset);
  const std::size_t newline = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
  return {source, 1 + static_cast<int>(std::count(begin, end, '\n')),
          static_cast<int>(offset - start) + 1};
}

/// Whether it is no text that could be measurements; reported.
bool is_refused(const std::shared_ptr<const Source>& source, Problems& problems) {
  const std::string& text = source->text;
  if (text.size() > kLargestMeasurements) {
    problems.add({source, 1, 1}, "",
                 fmt::format("the file has more than {} MiB", kLargestMeasurements >> 20));
    return true;
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    problems.add({source, 1, 1}, "", "the file is empty");
    return true;
  }
  const std::size_t at = first_non_text(text);
  if (at == std::string::npos) return false;
  problems.add(place_of(source, at), "",
               fmt::format("byte {:#04x} is no text: this is no file of measurements",
                           static_cast<unsigned char>(text[at])));
  return true;
}

/// Editors on Windows begin a text with a byte-order mark, terminals colour what is copied from
/// them.
std::shared_ptr<const Source> without_marks(const std::shared_ptr<const Source>& source) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  Source rest = *source;
  if (rest.text.starts_with(kMark)) rest.text.erase(0, kMark.size());
  rest.text = without_escapes(rest.text);
  return std::make_shared<const Source>(std::move(rest));
}

/// The words over its columns, which stand in what people copy of a log without its head.
bool has_rates_of_nccl(const std::string& text) {
  constexpr std::string_view kFirst = "algbw", kSecond = "busbw", kBlanks = " \t";
  for (std::size_t at = text.find(kFirst); at != std::string::npos; at = text.find(kFirst, at)) {
    at += kFirst.size();
    const std::size_t next = text.find_first_not_of(kBlanks, at);
    if (next != std::string::npos && next > at && text.compare(next, kSecond.size(), kSecond) == 0)
      return true;
  }
  return false;
}

bool is_nccl_text(const std::string& text) {
  constexpr std::string_view kSigns[] = {"nThread ", "nccl-tests version",
                                         "Collective test starting"};
  return has_rates_of_nccl(text) ||
         std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](std::string_view sign) { return text.find(sign) != std::string::npos; });
}

void read_json(const std::shared_ptr<const Source>& source, MeasuredFile& file,
               Problems& problems) {
  const auto json = parse_json(source, problems);
  if (!json) return;
  if (json->find("results") != nullptr && json->find("schema") == nullptr)
    return read_nccl_json(*json, file, problems);
  read_schema_json(*json, file, problems);
}

void check_twice(const MeasuredFile& file, Problems& problems) {
  std::map<std::string, int> lines;
  for (std::size_t i = 0; i < file.places.size(); ++i) {
    const std::string name = identity(file.content.records[i].point);
    const auto [before, is_new] = lines.emplace(name, file.places[i].line);
    if (!is_new)
      problems.add(file.places[i], "",
                   fmt::format("'{}' is there twice, first in line {}", name, before->second));
  }
}

void check_plausible(const MeasuredFile& file, Problems& problems) {
  for (std::size_t i = 0; i < file.places.size(); ++i) {
    const PointRecord& record = file.content.records[i];
    if (!record.skipped.empty()) continue;
    const std::string fault = why_implausible(record.point, record.measured, file.content.device);
    if (!fault.empty())
      problems.add(file.places[i], "", fault, "measure the point again, or leave it out");
  }
}

}  // namespace

MeasuredFile read_measurements(const std::shared_ptr<const Source>& given, Problems& problems) {
  const auto source = without_marks(given);
  MeasuredFile file;
  file.name = source->name;
  if (is_refused(source, problems)) return file;
  const std::string& text = source->text;
  const char first = text[text.find_first_not_of(" \t\r\n")];
  if (first != '{' && is_nccl_text(text)) {  // which a launcher may begin with "[1,0]<stdout>:"
    read_nccl_text(source, file, problems);
  } else if (first == '{' || first == '[') {
    read_json(source, file, problems);
  } else {
    read_table(source, file, problems);
  }
  check_twice(file, problems);
  check_plausible(file, problems);
  return file;
}

void take_started(const std::string& text, const Place& place, MeasuredFile& file,
                  Problems& problems) {
  constexpr std::string_view kDay = "0000-00-00";
  if (text.empty()) return;  // not known
  bool good = text.size() >= kDay.size();
  for (std::size_t i = 0; good && i < kDay.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    good = kDay[i] == '0' ? is_digit : text[i] == kDay[i];
  }
  if (!good)
    return problems.add(place, "", fmt::format("'started' is {}, not a day", quoted(text)),
                        "write it as 2026-01-31 or 2026-01-31T12:00:00Z");
  file.content.started = text;
}

DeviceFacts read_device(const WrittenRecord& row, bool all, Problems& problems) {
  FieldReader reader(row, problems);
  DeviceFacts device;
  const auto wanted = [&](const char* name) { return all || reader.has(name); };
  if (wanted("name")) device.name = reader.text("name").value_or("");
  if (wanted("compute_capability")) {
    const std::string text = reader.text("compute_capability").value_or("0.0");
    char after = 0;
    if (std::sscanf(text.c_str(), "%d.%d%c", &device.compute_major, &device.compute_minor,
                    &after) != 2 ||
        std::clamp(device.compute_major, 0, 99) != device.compute_major)
      reader.refuse(*row.find("compute_capability"),
                    fmt::format("'compute_capability' is {}, not like '9.0'", quoted(text)));
  }
  const auto integer = [&](const char* name, std::int64_t& value, std::int64_t least) {
    if (wanted(name)) value = reader.integer(name, least).value_or(least);
  };
  const auto number = [&](const char* name, double& value) {
    if (wanted(name)) value = reader.number(name, 0).value_or(0);
  };
  if (wanted("sms")) device.sms = reader.integer("sms", 0, 100'000).value_or(0);
  integer("memory_bytes", device.memory_bytes, 0);
  integer("l2_bytes", device.l2_bytes, 0);
  integer("memory_bus_bits", device.memory_bus_bits, 0);
  number("max_sm_clock_hz", device.max_sm_clock_hz);
  number("max_memory_clock_hz", device.max_memory_clock_hz);
  number("power_limit_w", device.power_limit_w);
  integer("gpus", device.gpus, 1);
  reader.nothing_else();
  return device;
}

Measurements parse_measurements(const std::string& text, const std::string& file) {
  Problems problems;
  const auto source = std::make_shared<Source>(Source{file, "", text});
  MeasuredFile read;
  if (const auto json = parse_json(source, problems)) {
    read_schema_json(*json, read, problems);
    check_twice(read, problems);
  }
  problems.throw_if_any();
  return read.content;
}

}  // namespace stepsim
