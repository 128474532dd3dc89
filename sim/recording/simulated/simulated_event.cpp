// Reads one event of an own trace with simdjson.
#include "sim/recording/simulated/simulated_event.hpp"

#include <array>
#include <cmath>

#include <simdjson.h>

#include "sim/recording/kineto/json_pieces.hpp"
#include "sim/recording/kineto/kineto_event.hpp"
#include "sim/timeline/words.hpp"

namespace stepsim {
namespace {

namespace ondemand = simdjson::ondemand;
using Arguments = SimulatedArguments;

template <class Member>
struct Field {
  std::string_view key;
  Member Arguments::*member;
};

constexpr std::array kTexts{
    Field<std::string_view>{"name", &Arguments::name},
    Field<std::string_view>{"members", &Arguments::members},
    Field<std::string_view>{"kind", &Arguments::kind},
    Field<std::string_view>{"axis", &Arguments::axis},
    Field<std::string_view>{"cause", &Arguments::cause},
    Field<std::string_view>{"wait", &Arguments::wait},
};
constexpr std::array kNumbers{
    Field<std::int64_t>{"step", &Arguments::step},
    Field<std::int64_t>{"micro_batch", &Arguments::micro_batch},
    Field<std::int64_t>{"message", &Arguments::message},
    Field<std::int64_t>{"rank", &Arguments::rank},
    Field<std::int64_t>{"stage", &Arguments::stage},
    Field<std::int64_t>{"multiplicity", &Arguments::multiplicity},
    Field<std::int64_t>{"slices", &Arguments::slices},
    Field<std::int64_t>{"row", &Arguments::row},
};
constexpr std::array kMaybe{
    Field<std::optional<std::int64_t>>{"blocker", &Arguments::blocker},
    Field<std::optional<std::int64_t>>{"operation", &Arguments::operation},
};
constexpr std::array kDecimals{
    Field<double>{"bytes", &Arguments::bytes},
    Field<double>{"contention_us", &Arguments::contention_us},
    Field<double>{"GiB", &Arguments::gib},
};

/// A number from its text: one that JSON allows.
std::optional<Nanoseconds> time_of(ondemand::value value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n')) token.remove_suffix(1);
  return nanoseconds_of(token);
}

bool read_positive(ondemand::value value, double& number) {
  return value.get_double().get(number) == simdjson::SUCCESS && std::isfinite(number) &&
         number >= 0;
}

/// Reads the argument with `read` where the table has its key; else nothing.
template <class Table, class Read>
std::optional<bool> read_field(const Table& table, std::string_view key, Arguments& arguments,
                               Read read) {
  for (const auto& field : table) {
    if (field.key == key) return read(arguments.*field.member);
  }
  return std::nullopt;
}

/// Reads a kernel's side of the measured range, or the time of several kernels on each side.
bool read_outside(ondemand::value value, Arguments& arguments) {
  ondemand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return false;
  if (type == ondemand::json_type::string)
    return value.get_string().get(arguments.outside) == simdjson::SUCCESS;
  ondemand::object sides;
  if (value.get_object().get(sides) != simdjson::SUCCESS) return false;
  for (auto side : sides) {
    std::string_view name;
    ondemand::value of_name;
    double micros = 0;
    if (side.unescaped_key().get(name) != simdjson::SUCCESS ||
        side.value().get(of_name) != simdjson::SUCCESS || !read_positive(of_name, micros))
      return false;
    arguments.sides.emplace_back(name, micros * 1e-6);
  }
  return true;
}

/// Reads a part of a slice of several kernels, such as forward_us. Other arguments are for people.
bool read_part(std::string_view key, ondemand::value value, Arguments& arguments) {
  if (!key.ends_with("_us")) return true;
  const auto cause = cause_named(key.substr(0, key.size() - 3));
  if (!cause) return true;
  double micros = 0;
  if (!read_positive(value, micros)) return false;
  arguments.mix[static_cast<std::size_t>(*cause)] = micros * 1e-6;
  arguments.has_mix = true;
  return true;
}

bool read_argument(std::string_view key, ondemand::value value, Arguments& arguments) {
  const auto text = [&](std::string_view& into) {
    return value.get_string().get(into) == simdjson::SUCCESS;
  };
  const auto whole = [&](auto& into) {
    std::int64_t number = 0;
    if (value.get_int64().get(number) != simdjson::SUCCESS) return false;
    into = number;
    return true;
  };
  const auto decimal = [&](double& into) { return read_positive(value, into); };
  if (const auto read = read_field(kNumbers, key, arguments, whole)) return *read;
  if (const auto read = read_field(kMaybe, key, arguments, whole)) return *read;
  if (const auto read = read_field(kTexts, key, arguments, text)) return *read;
  if (const auto read = read_field(kDecimals, key, arguments, decimal)) return *read;
  if (key == "sends") return value.get_bool().get(arguments.sends) == simdjson::SUCCESS;
  if (key == "outside") return read_outside(value, arguments);
  if (key != "wait_us") return read_part(key, value, arguments);
  arguments.wait_time = time_of(value);
  return arguments.wait_time.has_value();
}

template <class Read>
bool read_members(ondemand::object members, Read read) {
  for (auto member : members) {
    std::string_view key;
    ondemand::value value;
    if (member.unescaped_key().get(key) != simdjson::SUCCESS ||
        member.value().get(value) != simdjson::SUCCESS || !read(key, value))
      return false;
  }
  return true;
}

bool read_member(std::string_view key, ondemand::value value, SimulatedEvent& event) {
  if (key == "ts") event.start = time_of(value);
  if (key == "dur") event.duration = time_of(value);
  if (key == "pid") return value.get_int64().get(event.process) == simdjson::SUCCESS;
  if (key == "tid") return value.get_int64().get(event.thread) == simdjson::SUCCESS;
  if (key == "name") return value.get_string().get(event.name) == simdjson::SUCCESS;
  if (key == "cat") return value.get_string().get(event.category) == simdjson::SUCCESS;
  if (key == "ph") {
    std::string_view phase;
    if (value.get_string().get(phase) != simdjson::SUCCESS || phase.size() != 1) return false;
    event.phase = phase.front();
  }
  if (key != "args") return true;
  ondemand::object arguments;
  return value.get_object().get(arguments) == simdjson::SUCCESS &&
         read_members(arguments, [&](std::string_view name, ondemand::value argument) {
           return read_argument(name, argument, event.arguments);
         });
}

}  // namespace

struct SimulatedParser::Json {
  ondemand::parser parser;
  SimulatedEvent event;

  bool read(std::string_view text) {
    event = {};
    ondemand::document document;
    ondemand::object members;
    const simdjson::padded_string_view padded(text.data(), text.size(),
                                              text.size() + kPiecePadding);
    return parser.iterate(padded).get(document) == simdjson::SUCCESS &&
           document.get_object().get(members) == simdjson::SUCCESS &&
           read_members(members, [&](std::string_view key, ondemand::value value) {
             return read_member(key, value, event);
           });
  }
};

SimulatedParser::SimulatedParser() : json_(std::make_unique<Json>()) {}
SimulatedParser::~SimulatedParser() = default;

const SimulatedEvent* SimulatedParser::event(std::string_view text) {
  return json_->read(text) ? &json_->event : nullptr;
}

}  // namespace stepsim
