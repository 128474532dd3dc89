// Values of a row, each by its rules.
#include "sim/calibrate/measurement/read_record.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "sim/calibrate/measurement/memory_bytes.hpp"
#include "sim/core/overloaded.hpp"

namespace stepsim {
namespace {

// Bounds of a time that is none: an empty kernel takes a microsecond, and nobody repeats for hours.
constexpr double kShortest = 1e-8, kLongest = 3600;

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end) return value;
  return {};
}

/// "1 us": a number with something behind it.
bool has_unit(const std::string& text) {
  const std::size_t blank = text.find(' ');
  return blank != std::string::npos && number_of(text.substr(0, blank)).has_value();
}

std::optional<double> read_time(FieldReader& reader, const WrittenRecord& row,
                                const std::string& name) {
  const auto seconds = reader.number(name);
  if (!seconds || (*seconds >= kShortest && *seconds <= kLongest)) return seconds;
  reader.refuse(*row.find(name),
                fmt::format("{} {} is {:g} s, which is {}", name, quoted(row.find(name)->text),
                            *seconds, *seconds < kShortest ? "less than 10 ns" : "over an hour"),
                "a column in other units ends in them: time_us, time_ms");
  return {};
}

/// What profiles can hold (sim/scenario/describe/describe_cluster.hpp).
std::int64_t most_of(std::string_view name) {
  if (name == "gpus" || name == "nodes") return 1'000'000;
  if (name == "quantised_bytes") return 16;  // passes over the element, at 4 bytes each
  if (name == "pad") return 10'000;
  return name == "head_dim" ? 10'000 : FieldReader::kLargest;
}

std::int64_t least_of(const char* name) {
  return is_optional(name) || std::string_view(name) == "pad" ? 0 : 1;
}

void read_into(FieldReader& reader, const char* name, std::int64_t& value) {
  if (const auto read = reader.integer(name, least_of(name), most_of(name))) value = *read;
}
void read_into(FieldReader& reader, const char* name, bool& value) {
  if (const auto read = reader.flag(name)) value = *read;
}
template <class E>
void read_into(FieldReader& reader, const char* name, E& value) {
  if (const auto read = reader.word<E>(name)) value = *read;
}

/// Where a table has no percentiles, they are the time.
Timing read_timing(FieldReader& reader, const WrittenRecord& row) {
  const auto wanted = [&](const char* name) { return !row.may_be_short || reader.has(name); };
  Timing timing;
  timing.seconds = read_time(reader, row, "seconds").value_or(0);
  timing.p10 = wanted("p10") ? read_time(reader, row, "p10").value_or(0) : timing.seconds;
  timing.p90 = wanted("p90") ? read_time(reader, row, "p90").value_or(0) : timing.seconds;
  // Judgement: more than an hour of the shortest times, and less than an int holds.
  constexpr std::int64_t kMostRepeats = 1'000'000'000;
  timing.repeats = 1;
  if (wanted("repeats"))
    timing.repeats = static_cast<int>(reader.integer("repeats", 1, kMostRepeats).value_or(1));
  return timing;
}

Measured read_measured(FieldReader& reader, const WrittenRecord& row, PointKind kind) {
  Measured measured;
  if (kind == PointKind::queue) {
    measured.launches = reader.integer("launches", 1);
  } else {
    measured.timing = read_timing(reader, row);
  }
  if (kind == PointKind::overlap) measured.alone_seconds = read_time(reader, row, "alone_seconds");
  if (kind == PointKind::overlap && reader.has("products"))
    measured.products = reader.integer("products", 1);
  if (kind == PointKind::memory && reader.has("with_launch"))
    measured.with_launch = reader.flag("with_launch").value_or(false);
  if (reader.has("sm_clock_hz")) measured.sm_clock_hz = reader.number("sm_clock_hz");
  if (reader.has("power_w")) measured.power_w = reader.number("power_w");
  return measured;
}

/// A filter has to fit the image.
void check_filter(FieldReader& reader, const WrittenRecord& row, const ConvolutionPoint& c) {
  const auto check = [&](const char* name, std::int64_t filter, std::int64_t image) {
    if (reader.good() && filter > image + 2 * c.pad)
      reader.refuse(*row.find(name),
                    fmt::format("'{}' is {}, larger than the image with its pad, {}", name, filter,
                                image + 2 * c.pad));
  };
  check("filter_height", c.filter_height, c.height);
  check("filter_width", c.filter_width, c.width);
}

}  // namespace

const WrittenField* FieldReader::take(const std::string& name) {
  asked_.push_back(name);
  const WrittenField* entry = row_.find(name);
  if (entry != nullptr) return entry;
  good_ = false;
  problems_.add(row_.place, "", fmt::format("'{}' is missing", name));
  return nullptr;
}

bool FieldReader::offers(const std::string& name) {
  asked_.push_back(name);
  return has(name);
}

void FieldReader::refuse(const WrittenField& entry, const std::string& message,
                         const std::string& proposal) {
  good_ = false;
  problems_.add(entry.place, "", message, proposal);
}

std::optional<std::string> FieldReader::text(const std::string& name) {
  const WrittenField* entry = take(name);
  if (entry == nullptr) return {};
  const bool is_text = entry->written == ValueForm::bare || entry->written == ValueForm::text;
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  if (!is_text) {
    refuse(*entry, fmt::format("'{}' is {}, not a text", name, entry->text));
  } else if (std::ranges::any_of(entry->text, is_control)) {
    refuse(*entry, fmt::format("'{}' is {}: a control character has no place in it", name,
                               quoted(entry->text)));
  } else {
    return entry->text;
  }
  return {};
}

std::optional<double> FieldReader::number(const std::string& name, std::optional<double> least) {
  const WrittenField* entry = take(name);
  if (entry == nullptr) return {};
  const bool may_be = entry->written == ValueForm::bare || entry->written == ValueForm::number;
  const auto value = may_be ? number_of(entry->text) : std::nullopt;
  if (!value) {
    refuse(*entry, fmt::format("'{}' is {}, not a number", name, quoted(entry->text)),
           has_unit(entry->text) ? "write the number alone, in base units" : "");
    return {};
  }
  if (std::isfinite(*value) && (least ? *value >= *least : *value > 0)) return *value * entry->unit;
  refuse(*entry, fmt::format("'{}' is {}, which is not {}", name, quoted(entry->text),
                             least ? fmt::format("at least {}", *least) : "positive"));
  return {};
}

std::optional<std::int64_t> FieldReader::integer(const std::string& name, std::int64_t least,
                                                 std::int64_t most) {
  const WrittenField* entry = take(name);
  if (entry == nullptr) return {};
  const bool may_be = entry->written == ValueForm::bare || entry->written == ValueForm::number;
  const auto value = may_be ? number_of(entry->text) : std::nullopt;
  const double scaled = value ? std::round(*value * entry->unit * 1e6) / 1e6 : 0.5;
  if (!value || scaled != std::trunc(scaled) || scaled < static_cast<double>(least)) {
    refuse(*entry, fmt::format("'{}' is {}, not a whole number of at least {}", name,
                               quoted(entry->text), least));
    return {};
  }
  if (scaled > static_cast<double>(most)) {
    refuse(*entry, fmt::format("'{}' is {}, which is above {}", name, quoted(entry->text), most));
    return {};
  }
  return static_cast<std::int64_t>(scaled);
}

std::optional<bool> FieldReader::flag(const std::string& name) {
  const WrittenField* entry = take(name);
  if (entry == nullptr) return {};
  const bool bare = entry->written == ValueForm::bare;
  const std::string& text = entry->text;
  if (bare || entry->written == ValueForm::flag) {
    if (text == "true" || (bare && (text == "True" || text == "1"))) return true;
    if (text == "false" || (bare && (text == "False" || text == "0"))) return false;
  }
  refuse(*entry, fmt::format("'{}' is {}, neither true nor false", name, quoted(text)));
  return {};
}

void FieldReader::nothing_else() {
  for (const WrittenField& entry : row_.fields) {
    if (std::ranges::find(asked_, entry.name) != asked_.end()) continue;
    good_ = false;
    problems_.add(entry.name_place, "", fmt::format("unknown key {}", quoted(entry.name)),
                  did_you_mean(entry.name, asked_));
  }
}

std::string FieldReader::without_alias(const std::string& word) {
  // nccl-tests' and PyTorch's names of types, nccl-tests' name of an operation, cuDNN's of passes.
  static const std::map<std::string, std::string> kAliases{{"half", "fp16"},
                                                           {"float16", "fp16"},
                                                           {"float", "fp32"},
                                                           {"float32", "fp32"},
                                                           {"bfloat16", "bf16"},
                                                           {"fp8_e4m3", "fp8"},
                                                           {"fwd", "forward"},
                                                           {"bwd", "backward"},
                                                           {"alltoall", "all_to_all"},
                                                           {"bwd_data", "input_gradient"},
                                                           {"bwd_weight", "weight_gradient"}};
  const std::string plain = word.starts_with("torch.") ? word.substr(6) : word;
  const auto found = kAliases.find(plain);
  return found == kAliases.end() ? plain : found->second;
}

namespace {

void add_plain_defaults(WrittenRecord& row) {
  struct Default {
    const char *kind, *field;
    const char* text;  ///< where `like` is empty
    const char* like;  ///< field of the record that the default is copied from; empty: none
  };
  static constexpr Default kDefaults[] = {
      {"gemm", "transpose", "TN", ""},
      {"gemm", "batch", "1", ""},
      {"gemm", "accumulate", "false", ""},
      {"gemm", "sustained", "false", ""},
      {"attention", "pass", "forward", ""},
      {"attention", "kv_heads", "", "heads"},
      {"memory", "rows", "1", ""},
      {"convolution", "pass", "forward", ""},
      {"convolution", "stride", "1", ""},
      {"convolution", "pad", "0", ""},
      {"convolution", "width", "", "height"},
      {"convolution", "filter_width", "", "filter_height"},
  };
  row.may_be_short = true;
  const WrittenField* stated = row.find("kind");
  if (stated == nullptr) return;
  const std::string kind = stated->text;
  for (const auto& [of, field, text, like] : kDefaults) {
    if (kind != of || row.find(field) != nullptr) continue;
    WrittenField entry{field, row.place, text, row.place, ValueForm::bare};
    if (*like != '\0') {
      const WrittenField* other = row.find(like);
      if (other == nullptr) continue;
      entry.text = other->text;
      entry.unit = other->unit;
    }
    row.fields.push_back(entry);
  }
}

/// Whether the kernel is of a type that products of matrices alone have.
bool is_narrow_without_products(const Point& point) {
  return std::visit(
      Overloaded{[](const AttentionPoint& p) { return p.dtype == Precision::nvfp4; },
                 [](const ConvolutionPoint& p) { return p.dtype == Precision::nvfp4; },
                 [](const MemoryOpPoint& p) { return p.dtype == Precision::nvfp4; },
                 [](const auto&) { return false; }},
      point);
}

/// The columns of so many rows of a kernel that moves so many bytes; 1 where something is missing
/// or wrong, which is said elsewhere.
std::int64_t columns_of(const WrittenRecord& row) {
  const auto number = [&](const char* name) {
    const WrittenField* entry = row.find(name);
    const auto value = entry == nullptr ? std::nullopt : number_of(entry->text);
    return value ? *value * entry->unit : 0;
  };
  const auto word = [&](const char* name) {
    const WrittenField* entry = row.find(name);
    return entry == nullptr ? "" : FieldReader::without_alias(entry->text);
  };
  const auto op = find_measured<MemoryOp>(word("op"));
  const auto dtype = find_measured<Precision>(word("dtype"));
  if (!op || !dtype || *dtype == Precision::nvfp4 || number("rows") < 1) return 1;
  const auto beside = memory_bytes(*op, *dtype, 1, 0);  // what a row has but once
  const auto element = memory_bytes(*op, *dtype, 1, 1) - beside;
  const double columns = (number("bytes") / number("rows") - static_cast<double>(beside)) /
                         static_cast<double>(element);
  return static_cast<std::int64_t>(
      std::clamp(std::round(columns), 1.0, static_cast<double>(FieldReader::kLargest)));
}

}  // namespace

void add_table_defaults(WrittenRecord& row) {
  add_plain_defaults(row);
  const WrittenField* kind = row.find("kind");
  if (kind == nullptr || kind->text != "memory" || row.find("columns") != nullptr) return;
  row.fields.push_back(
      {"columns", row.place, fmt::format("{}", columns_of(row)), row.place, ValueForm::bare});
}

std::optional<PointRecord> read_record(const WrittenRecord& row, Problems& problems) {
  FieldReader reader(row, problems);
  const auto kind = reader.word<PointKind>("kind");
  if (!kind) return {};
  PointRecord record{blank_point(*kind), {}, ""};
  for_each_field(record.point, [&](const char* name, auto& value) {
    if (!is_optional(name) || reader.offers(name)) read_into(reader, name, value);
  });
  const auto* collective = std::get_if<CollectivePoint>(&record.point);
  if (collective != nullptr && collective->gpus == 1)
    reader.refuse(*row.find("gpus"), "'gpus' is 1: a collective has at least two");
  if (collective != nullptr && collective->nodes > 1 && collective->gpus % collective->nodes != 0)
    reader.refuse(*row.find("nodes"), fmt::format("{} GPUs on {} nodes: each node needs as many",
                                                  collective->gpus, collective->nodes));
  const auto* gemm = std::get_if<GemmPoint>(&record.point);
  if (gemm != nullptr && gemm->quantised_bytes > 0 && !needs_scales(gemm->dtype))
    reader.refuse(
        *row.find("quantised_bytes"),
        fmt::format("'quantised_bytes' is of fp8 and nvfp4, not of {}", name_of(gemm->dtype)));
  if (is_narrow_without_products(record.point))
    reader.refuse(*row.find("dtype"), "nvfp4 is a type of products of matrices alone");
  if (const auto* convolution = std::get_if<ConvolutionPoint>(&record.point))
    check_filter(reader, row, *convolution);
  if (reader.has("skipped")) {
    record.skipped = reader.text("skipped").value_or("");
    if (reader.good() && record.skipped.empty())
      reader.refuse(*row.find("skipped"), "'skipped' gives no reason");
  } else {
    record.measured = read_measured(reader, row, *kind);
  }
  reader.nothing_else();
  if (!reader.good()) return {};
  return record;
}

}  // namespace stepsim
