// Reading what the result must be.
#include "sim/scenario/read/expectation.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

enum class Measure { time, fraction, rate, bytes, truth };

struct Key {
  std::string_view name;
  Measure measure;
  std::string_view meaning;
};

constexpr std::array<Key, 11> kKeys{{
    {"step_time", Measure::time, "mean of the measured steps"},
    {"mfu", Measure::fraction, "FLOPs of the model over what the GPUs could do in that time"},
    {"hfu", Measure::fraction, "the same with the FLOPs that are computed again"},
    {"tokens_per_s", Measure::rate, "of all GPUs together"},
    {"samples_per_s", Measure::rate, "of all GPUs together"},
    {"peak_memory", Measure::bytes, "of the GPU that needs most"},
    {"bubble_fraction", Measure::fraction, "of the step, waiting for another pipeline stage"},
    {"data_stall_fraction", Measure::fraction, "of the step, waiting for samples"},
    {"overlap_efficiency", Measure::fraction, "of communication, hidden under compute"},
    {"goodput", Measure::fraction,
     "of a run of run.horizon, useful: not lost, not spent on checkpoints or restarts"},
    {"fits", Measure::truth,
     "the peak is within the GPU's memory, the allocator's fragments given back"},
}};

constexpr std::array<std::string_view, 5> kComparisons{"<=", ">=", "==", "<",
                                                       ">"};  // longest first

const Key& key_of(std::string_view name) {
  return *std::find_if(kKeys.begin(), kKeys.end() - 1,
                       [&](const Key& key) { return key.name == name; });
}

/// Reads a quantity; `usual` is the unit to propose, one that results have.
template <class T>
double read_as(const std::string& text, std::string_view usual) {
  Dimension dimension = dimension_of(T{});
  dimension.usual = usual;
  return read_quantity(text, dimension);
}

template <class T>
double read_plain(const std::string& text) {
  T value{};
  read_scalar(text, value);
  return value;
}

/// Rates may leave the unit out: their key carries it.
double read_rate(const std::string& text) {
  const auto leading = leading_number(text);
  return leading && leading->rest.empty() ? leading->value : read_as<PerSecond>(text, "samples/s");
}

double read_value(Measure measure, const std::string& text) {
  switch (measure) {
    case Measure::time:
      return read_as<Seconds>(text, "s");
    case Measure::fraction:
      return read_plain<double>(text);
    case Measure::rate:
      return read_rate(text);
    case Measure::bytes:
      return read_as<Bytes>(text, "GiB");
    case Measure::truth:
      return read_plain<bool>(text);
  }
  return 0;
}

/// The value after the comparison; a proposal repeats the comparison.
double value_of(Measure measure, const std::string& text, const std::string& comparison) {
  constexpr std::string_view kWrite = "write \"";
  try {
    return read_value(measure, text);
  } catch (Mistake& mistake) {
    if (text.starts_with("=>") || text.starts_with("=<")) {
      mistake.proposal = fmt::format("write \"{}={}\"", text[1], text.substr(2));
    } else if (measure != Measure::truth && mistake.proposal.starts_with(kWrite)) {
      mistake.proposal.insert(kWrite.size(), comparison + " ");
    }
    throw;
  }
}

/// A limit that one would set for that key: less is better for times, memory and losses.
std::string_view usual_comparison(std::string_view key) {
  const bool less = key == "step_time" || key == "peak_memory" || key.ends_with("_fraction");
  return less ? "<=" : ">=";
}

/// The text with the percent sign that it may lack; "" when no sign makes it a fraction.
std::string as_fraction(const std::string& text, double value) {
  if (value <= 1) return text;
  return value <= 100 && !text.ends_with('%') ? text + " %" : "";
}

/// `comparison` and a value that no result has: what to write instead.
void check_fraction(const std::string& text, double value, const std::string& comparison) {
  if (value <= 1) return;
  const std::string meant = as_fraction(text, value);
  throw Mistake{fmt::format("{} is more than 1, the whole", quoted(text)),
                meant.empty() ? "" : fmt::format("write \"{} {}\"", comparison, meant)};
}

std::string_view without_spaces_in_front(std::string_view text) {
  const auto from = text.find_first_not_of(' ');
  return from == std::string_view::npos ? "" : text.substr(from);
}

}  // namespace

std::vector<std::string> expectation_keys() {
  std::vector<std::string> keys;
  for (const Key& key : kKeys) keys.emplace_back(key.name);
  return keys;
}

Expectation read_expectation(const std::string& key, const std::string& text) {
  const Measure measure = key_of(key).measure;
  const auto sign =
      std::ranges::find_if(kComparisons, [&](std::string_view c) { return text.starts_with(c); });
  const bool has_sign = sign != kComparisons.end();
  const std::string rest(without_spaces_in_front(has_sign ? text.substr(sign->size()) : text));
  const std::string usual(measure == Measure::truth ? "==" : usual_comparison(key));
  Expectation result{.key = key, .comparison = has_sign ? std::string(*sign) : usual};
  result.value = value_of(measure, rest, result.comparison);
  if (measure == Measure::truth) {
    if (result.comparison != "==") {
      throw Mistake{fmt::format("{} is true or false", key), fmt::format("write \"{}\"", rest)};
    }
    result.text = fmt::format("{}: {}", key, rest);
    return result;
  }
  const bool is_fraction = measure == Measure::fraction;
  const std::string meant = is_fraction ? as_fraction(rest, result.value) : rest;
  if (!has_sign && !meant.empty()) {
    throw Mistake{fmt::format("{} has no comparison", quoted(text)),
                  fmt::format("write \"{} {}\"", usual, meant)};
  }
  if (is_fraction) check_fraction(rest, result.value, result.comparison);
  result.text = fmt::format("{} {} {}", key, result.comparison, rest);
  return result;
}

std::string expectation_text(const Expectation& expectation) {
  const std::string rest =
      expectation.text.substr(std::min(expectation.key.size() + 1, expectation.text.size()));
  return rest.starts_with(' ') ? rest.substr(1) : rest;
}

std::string expectation_type(const std::string& key) {
  constexpr std::array kTypes{"comparison and a time", "comparison and a fraction or percentage",
                              "comparison and a number", "comparison and a size", "true or false"};
  return kTypes.at(static_cast<std::size_t>(key_of(key).measure));
}

std::string expectation_meaning(const std::string& key) { return std::string(key_of(key).meaning); }

}  // namespace stepsim
