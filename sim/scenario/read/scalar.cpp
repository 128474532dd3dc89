// Reading and writing of single values.
#include "sim/scenario/read/scalar.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

#include "sim/core/words.hpp"

namespace stepsim {
namespace {

template <Integer T>
T read_integer(const std::string& text) {
  const auto leading = leading_number(text);
  if (!leading || !leading->rest.empty()) refuse(text, "an integer");
  const char* end = leading->number.data() + leading->number.size();
  T value{};
  const auto parsed = std::from_chars(leading->number.data(), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end) return value;
  if (std::trunc(leading->value) != leading->value) refuse(text, "an integer");
  constexpr double kExact = 0x1p53;  // above it, not every integer is a double
  const bool fits = std::abs(leading->value) <= kExact &&
                    leading->value >= static_cast<double>(std::numeric_limits<T>::min()) &&
                    leading->value <= static_cast<double>(std::numeric_limits<T>::max());
  if (!fits) throw Mistake{quoted(text) + " is out of range", ""};
  return static_cast<T>(leading->value);
}

/// A number with one of the units, in the first of them.
double in_unit(const std::string& text, const std::string& wanted,
               std::initializer_list<std::pair<std::string_view, double>> units) {
  const auto leading = leading_number(text);
  if (!leading) refuse(text, wanted);
  for (const auto& [unit, size] : units)
    if (leading->rest == unit) return leading->value * size;
  // Another unit may be a thousand times as large.
  if (!leading->rest.empty()) refuse(text, wanted);
  throw Mistake{quoted(text) + " has no unit",
                fmt::format("write \"{} {}\"", leading->number, units.begin()->first)};
}

/// Whether YAML reads the text back as it is, without quotes.
bool is_plain_safe(const std::string& text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./ ()+";
  if (text.empty() || text.find_first_not_of(kSafe) != std::string::npos) return false;
  if (!std::isalnum(static_cast<unsigned char>(text.front())) || text.back() == ' ') return false;
  return text != "null" && text != "Null" && text != "NULL";
}

}  // namespace

void read_scalar(const std::string& text, bool& value) {
  if (text == "true" || text == "false") {
    value = text == "true";
    return;
  }
  const std::string word = in_lower_case(text);
  const bool yes = word == "yes" || word == "on" || word == "true" || word == "1" || word == "y";
  const bool no = word == "no" || word == "off" || word == "false" || word == "0" || word == "n";
  refuse(text, "true or false", yes ? "write \"true\"" : no ? "write \"false\"" : "");
}

void read_scalar(const std::string& text, int& value) { value = read_integer<int>(text); }
void read_scalar(const std::string& text, std::int64_t& value) {
  value = read_integer<std::int64_t>(text);
}
void read_scalar(const std::string& text, std::uint64_t& value) {
  value = read_integer<std::uint64_t>(text);
}

void read_scalar(const std::string& text, double& value) {
  const auto leading = leading_number(text);
  if (!leading || (!leading->rest.empty() && leading->rest != "%")) refuse(text, "a number");
  value = leading->rest == "%" ? leading->value / 100 : leading->value;
}

void read_scalar(const std::string& text, SampleTime& value) {
  const auto leading = leading_number(text);
  if (!leading) refuse(text, wanted(value), "write it like \"5 ms\" or \"200 samples/s\"");
  if (leading->rest.empty()) {
    throw Mistake{quoted(text) + " has no unit",
                  fmt::format("write \"{0} ms\" or \"{0} samples/s\"", leading->number)};
  }
  if (leading->rest != "samples/s") return read_scalar(text, value.time);
  if (leading->value <= 0) throw Mistake{quoted(text) + " must be greater than 0", ""};
  value.time = Seconds{1 / leading->value};
  if (!std::isfinite(value.time.seconds())) throw Mistake{quoted(text) + " is too small", ""};
}

void read_scalar(const std::string& text, GpuPrice& value) {
  constexpr std::string_view kUnit = "$/gpu/h";
  const auto leading = leading_number(text);
  if (!leading) refuse(text, wanted(value));
  if (leading->rest != kUnit) {
    const char* what = leading->rest.empty() ? " has no unit" : " is not a price of one GPU's hour";
    throw Mistake{quoted(text) + what, fmt::format("write \"{} {}\"", leading->number, kUnit)};
  }
  value.dollars_per_hour = leading->value;
}

std::string write_scalar(GpuPrice value) {
  return fmt::format("\"{} $/gpu/h\"", value.dollars_per_hour);
}

void read_scalar(const std::string& text, Watts& value) {
  value.value = in_unit(text, wanted(value), {{"W", 1}, {"kW", 1e3}});
}
std::string write_scalar(Watts value) { return fmt::format("{} W", value.value); }

void read_scalar(const std::string& text, CarbonIntensity& value) {
  value.grams_per_kwh = in_unit(text, wanted(value), {{"g/kWh", 1}, {"kg/kWh", 1e3}});
}
std::string write_scalar(CarbonIntensity value) {
  return fmt::format("{} g/kWh", value.grams_per_kwh);
}

void read_scalar(const std::string& text, Horizon& value) {
  const auto leading = leading_number(text);
  if (!leading || leading->rest.empty())
    refuse(text, wanted(value), "write it like \"7 days\", \"10000 steps\" or \"2T tokens\"");
  Horizon read;
  if (leading->rest == "steps" || leading->rest == "step") {
    read_scalar(std::string(leading->number), read.steps);
  } else if (leading->rest.find("token") != std::string::npos) {
    const auto tokens = token_count(text);
    if (!tokens) refuse(text, wanted(value), "write it like \"2T tokens\"");
    read.tokens = *tokens;
  } else if (token_count(text)) {
    refuse(text, wanted(value),
           fmt::format("write \"{}{} tokens\"", leading->number, leading->rest));
  } else {
    read_scalar(text, read.time);
  }
  if (read.steps <= 0 && read.time <= Seconds{0} && read.tokens <= 0)
    throw Mistake{quoted(text) + " must be greater than 0", ""};
  value = read;
}

std::string write_scalar(const Horizon& value) {
  return value.steps > 0 ? fmt::format("{} steps", value.steps) : write_scalar(value.time);
}

void read_scalar(const std::string& text, Sharding& value) {
  const Sharding* sharding = Registry<Sharding>::find(text);
  if (sharding == nullptr) {
    throw Mistake{quoted(text) + " is not " + wanted(value),
                  closest(text, Registry<Sharding>::names())};
  }
  value = *sharding;
}

namespace {

Axis axis_of(const std::string& word) {
  std::vector<std::string> known;
  for (const Axis axis : kOrderedAxes) {
    if (word == words_of(axis).order) return axis;
    known.emplace_back(words_of(axis).order);
  }
  throw Mistake{quoted(word) + " is not " + one_of(known), closest(word, known)};
}

}  // namespace

void read_scalar(const std::string& text, RankOrder& value) {
  if (text.empty() || text.ends_with('-')) refuse(text, wanted(value));
  RankOrder read{.axes = {}};
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, '-');) {
    const Axis axis = axis_of(word);
    const auto& before = read.axes;
    if (std::ranges::find(before, axis) != before.end())
      throw Mistake{quoted(text) + " has " + word + " twice", ""};
    read.axes.push_back(axis);
  }
  value = read;
}

std::string write_scalar(const RankOrder& value) {
  std::string text;
  for (const Axis axis : value.axes)
    text += std::string(text.empty() ? "" : "-") + words_of(axis).order;
  return text;
}

std::string write_scalar(const std::string& value) {
  if (is_plain_safe(value)) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : std::string(1, c);
  }
  return text + '"';
}

}  // namespace stepsim
