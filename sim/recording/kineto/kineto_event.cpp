// Reads one event of Kineto with simdjson.
#include "sim/recording/kineto/kineto_event.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "sim/recording/kineto/json_pieces.hpp"
#include "sim/recording/products/product_operators.hpp"

namespace stepsim {
namespace {

namespace ondemand = simdjson::ondemand;
static_assert(kPiecePadding >= simdjson::SIMDJSON_PADDING);

/// Times between these, in microseconds, fit in nanoseconds, and so do their differences.
constexpr std::int64_t kMostMicroseconds = 9'000'000'000'000'000;
constexpr std::int64_t kLeastMicroseconds = -100'000'000'000'000;

/// A token without the blanks behind it and the quotes around it.
std::string_view bare(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' ||
                            token.back() == '\t'))
    token.remove_suffix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    token = token.substr(1, token.size() - 2);
  return token;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  const std::size_t digit = text.find_first_of("-0123456789");  // "stream 7" is 7
  if (digit == std::string_view::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + digit, text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

/// A number of microseconds with an exponent (1e3), as nanoseconds.
std::optional<Nanoseconds> with_exponent(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(value < static_cast<double>(kMostMicroseconds) &&
        value > static_cast<double>(kLeastMicroseconds)))
    return std::nullopt;
  return std::llround(value * 1000);
}

/// Bytes of PyTorch's types (c10/core/ScalarType.h), by the begin of their names; long ones first.
constexpr std::array<std::pair<std::string_view, double>, 14> kTypes{
    {{"ComplexDouble", 16},
     {"ComplexFloat", 8},
     {"BFloat16", 2},
     {"Float8", 1},
     {"Float4", 1},  // two values in a byte, counted as one element
     {"Float", 4},
     {"Double", 8},
     {"Half", 2},
     {"Long", 8},
     {"Int", 4},
     {"Short", 2},
     {"Char", 1},
     {"Byte", 1},
     {"Bool", 1}}};

double bytes_of_type(std::string_view name) {
  for (const auto& [begin, bytes] : kTypes) {
    if (name.starts_with(begin)) return bytes;
  }
  return 0;
}

/// "[0, 1, 8]"; nothing where the list is cut.
std::vector<int> ranks_in(std::string_view text) {
  std::vector<int> ranks;
  if (!text.starts_with('[') || !text.ends_with(']') || text.find("...") != text.npos) return ranks;
  for (std::size_t at = 1; at < text.size();) {
    int rank = 0;
    const auto [end, error] = std::from_chars(&text[at], text.data() + text.size(), rank);
    if (error == std::errc()) ranks.push_back(rank);
    at = text.find_first_of(
        "0123456789", static_cast<std::size_t>(end - text.data()) + (error == std::errc() ? 0 : 1));
  }
  return ranks;
}

/// The arguments that describe a collective (pytorch, torch/csrc/distributed/c10d/ParamCommsUtils):
/// on its kernel, and on the operator `record_param_comms`.
void read_collective(std::string_view key, std::string_view value, KinetoEvent& event) {
  const auto collective = [&]() -> RecordedCollective& {
    return event.collective ? *event.collective : event.collective.emplace();
  };
  const auto count = [&] { return static_cast<double>(whole_number(value).value_or(0)); };
  if (key == "Collective name") collective().operation = value;
  if (key == "Process Group Name") collective().group = value;
  if (key == "Process Group Description" && value != "undefined")
    collective().group_description = value;
  if (key == "Process Group Ranks") collective().ranks = ranks_in(value);
  if (key == "Group size") collective().group_size = static_cast<int>(std::clamp(count(), 0., 1e8));
  if (key == "In msg nelems") collective().in_elements = std::max(count(), 0.);
  if (key == "Out msg nelems") collective().out_elements = std::max(count(), 0.);
  if (key == "dtype") collective().bytes_per_element = bytes_of_type(value);
}

/// Before September 2021 "Input dims"; their types are called "Input type".
void read_shape(std::string_view key, ondemand::value value, KinetoEvent& event) {
  std::string_view text;
  const bool is_sizes = key == "Input Dims" || key == "Input dims";
  if (!is_sizes && key != "Input type") return;
  if (simdjson::to_json_string(value).get(text) != simdjson::SUCCESS) return;
  (is_sizes ? event.sizes : event.types) = text;
}

/// What PyTorch's allocator holds (torch/csrc/profiler/collection.h, Allocation).
void read_memory(std::string_view key, std::string_view value, KinetoEvent& event) {
  const auto number = whole_number(value);
  if (!number || *number < 0) return;
  if (key == "Device Type") event.device_type = *number;
  if (key == "Device Id") event.device = *number;
  if (key == "Total Allocated") event.allocated_bytes = static_cast<double>(*number);
  if (key == "Total Reserved") event.reserved_bytes = static_cast<double>(*number);
}

void read_argument(std::string_view key, ondemand::value value, KinetoEvent& event) {
  if (key.empty()) return;
  if (has_shape(event.name)) return read_shape(key, value, event);
  if (event.name == "[memory]") return read_memory(key, bare(value.raw_json_token()), event);
  // Keys of collectives begin with these letters, and few others do.
  if (std::string_view("CPGIOd").find(key.front()) != std::string_view::npos && key != "device")
    return read_collective(key, bare(value.raw_json_token()), event);
  if (key != "correlation" && key != "stream" && key != "device" && key != "bytes") return;
  const auto number = whole_number(bare(value.raw_json_token()));
  if (!number) return;
  if (key == "stream") event.stream = *number;
  if (key == "device") event.device = *number;
  if (key == "bytes" && *number > 0) event.bytes = static_cast<double>(*number);
  if (key == "correlation" && *number > 0) event.correlation = static_cast<std::uint64_t>(*number);
}

bool read_arguments(ondemand::value value, KinetoEvent& event) {
  ondemand::object arguments;
  if (value.get_object().get(arguments) != simdjson::SUCCESS) return true;  // null, as some write
  for (auto argument : arguments) {
    std::string_view key;
    ondemand::value of_key;
    if (argument.unescaped_key().get(key) != simdjson::SUCCESS ||
        argument.value().get(of_key) != simdjson::SUCCESS)
      return false;
    read_argument(key, of_key, event);
  }
  return true;
}

/// Only what launches, was launched, communicates or has sizes has arguments that matter here.
bool has_arguments(const KinetoEvent& event) {
  if (event.category == "cpu_op")
    return event.name == "record_param_comms" || has_shape(event.name);
  if (event.category == "Operator") return has_shape(event.name);
  return event.category != "python_function";
}

bool read_text(ondemand::value value, std::string_view& text) {
  const auto error = value.get_string().get(text);
  if (error == simdjson::INCORRECT_TYPE) text = {};
  return error == simdjson::SUCCESS || error == simdjson::INCORRECT_TYPE;
}

bool read_member(std::string_view key, ondemand::value value, KinetoEvent& event) {
  if (key == "ph") {
    std::string_view phase;
    if (!read_text(value, phase)) return false;
    event.phase = phase.empty() ? '\0' : phase.front();
    return true;
  }
  if (key == "cat") return read_text(value, event.category);
  if (key == "name") return read_text(value, event.name);
  if (key == "pid") event.process = bare(value.raw_json_token());
  if (key == "tid") event.thread = bare(value.raw_json_token());
  if (key == "ts") event.start = nanoseconds_of(bare(value.raw_json_token()));
  if (key == "dur") event.duration = nanoseconds_of(bare(value.raw_json_token()));
  if (key == "args" && has_arguments(event)) return read_arguments(value, event);
  return true;
}

/// The text with a question mark for each byte that is not ASCII, and a blank for each control
/// character.
std::string in_ascii(std::string_view text) {
  std::string ascii(text);
  for (char& c : ascii) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  ascii.append(kPiecePadding, ' ');
  return ascii;
}

}  // namespace

bool has_shape(std::string_view operation) {
  static constexpr std::array<std::string_view, 4> kShaped{"aten::linear", "aten::embedding",
                                                           "aten::embedding_bag",
                                                           "aten::scaled_dot_product_attention"};
  if (!operation.starts_with("aten::")) return false;
  return product_operator(operation) != nullptr ||
         std::ranges::find(kShaped, operation) != kShaped.end();
}

std::optional<Nanoseconds> nanoseconds_of(std::string_view microseconds) {
  std::string_view text = microseconds;
  const bool is_negative = !text.empty() && text.front() == '-';
  if (is_negative) text.remove_prefix(1);
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc() || whole < 0 || whole >= kMostMicroseconds) return std::nullopt;
  Nanoseconds time = whole * 1000;
  if (at != end && *at == '.') {
    ++at;
    for (Nanoseconds scale = 100; at != end && *at >= '0' && *at <= '9'; ++at, scale /= 10)
      time += (*at - '0') * scale;
  }
  if (at != end) return with_exponent(microseconds);
  if (is_negative && whole >= -kLeastMicroseconds) return std::nullopt;
  return is_negative ? -time : time;
}

struct KinetoParser::Json {
  ondemand::parser parser;
  std::string mended;

  std::optional<KinetoEvent> event(std::string_view text) {
    ondemand::document document;
    const simdjson::padded_string_view padded(text.data(), text.size(),
                                              text.size() + kPiecePadding);
    ondemand::object members;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
        document.get_object().get(members) != simdjson::SUCCESS)
      return std::nullopt;
    KinetoEvent event;
    for (auto member : members) {
      std::string_view key;
      ondemand::value value;
      if (member.unescaped_key().get(key) != simdjson::SUCCESS ||
          member.value().get(value) != simdjson::SUCCESS || !read_member(key, value, event))
        return std::nullopt;
    }
    return event;
  }
};

KinetoParser::KinetoParser() : json_(std::make_unique<Json>()) {}
KinetoParser::~KinetoParser() = default;

std::optional<KinetoEvent> KinetoParser::event(std::string_view text) {
  auto event = json_->event(text);
  if (event) return event;
  json_->mended = in_ascii(text);
  return json_->event(std::string_view(json_->mended).substr(0, text.size()));
}

}  // namespace stepsim
