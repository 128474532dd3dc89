// Single values as text: words, switches, numbers and quantities, read strictly and written
// exactly.
//
// For each type of value there is one read_scalar (throws Mistake), one write_scalar (its text
// reads back as exactly the same value) and one `wanted` (what messages call it). `38 %` is 0.38;
// switches are `true` and `false` only; strings are quoted where YAML needs it.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/registry.hpp"
#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/number.hpp"
#include "sim/scenario/read/unit.hpp"

namespace stepsim {

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

/// Time of one sample; may be given as a rate ("120 samples/s").
struct SampleTime {
  Seconds time;
};

// --- text
inline void read_scalar(const std::string& text, std::string& value) { value = text; }
std::string write_scalar(const std::string& value);
inline std::string wanted(const std::string&) { return "a text"; }

// --- switches
void read_scalar(const std::string& text, bool& value);
template <std::same_as<bool> T>
std::string write_scalar(T value) {
  return value ? "true" : "false";
}
inline std::string wanted(bool) { return "true or false"; }

// --- numbers
void read_scalar(const std::string& text, int& value);
void read_scalar(const std::string& text, std::int64_t& value);
void read_scalar(const std::string& text, std::uint64_t& value);
void read_scalar(const std::string& text, double& value);
inline std::string write_scalar(Integer auto value) { return fmt::format("{}", value); }
inline std::string write_scalar(double value) { return fmt::format("{}", value); }
inline std::string wanted(Integer auto) { return "an integer"; }
inline std::string wanted(double) { return "a number"; }

// --- quantities
template <int S, int B, int F>
void read_scalar(const std::string& text, Quantity<S, B, F>& value) {
  value = Quantity<S, B, F>{read_quantity(text, dimension_of(value))};
}
template <int S, int B, int F>
std::string write_scalar(Quantity<S, B, F> value) {
  return write_quantity(value.base(), dimension_of(value));
}
template <int S, int B, int F>
std::string wanted(Quantity<S, B, F> value) {
  return std::string(dimension_of(value).title);
}

void read_scalar(const std::string& text, SampleTime& value);
inline std::string write_scalar(SampleTime value) { return write_scalar(value.time); }
inline std::string wanted(SampleTime) { return "a time per sample or a rate in samples/s"; }

/// Dollars for an hour of one GPU: "2.50 $/gpu/h".
void read_scalar(const std::string& text, GpuPrice& value);
std::string write_scalar(GpuPrice value);
inline std::string wanted(GpuPrice) { return "a price of one GPU's hour such as 2.50 $/gpu/h"; }

/// "700 W", "1.2 kW".
void read_scalar(const std::string& text, Watts& value);
std::string write_scalar(Watts value);
inline std::string wanted(Watts) { return "a power such as 700 W"; }

/// "445 g/kWh", "0.445 kg/kWh".
void read_scalar(const std::string& text, CarbonIntensity& value);
std::string write_scalar(CarbonIntensity value);
inline std::string wanted(CarbonIntensity) { return "a carbon intensity such as 445 g/kWh"; }

/// "7 days", "12 h", "10000 steps".
void read_scalar(const std::string& text, Horizon& value);
std::string write_scalar(const Horizon& value);
inline std::string wanted(const Horizon&) { return "a time, or a number of steps or tokens"; }

// --- extents
/// "128 to 32768", "4 KiB to 1 GiB".
template <class T>
void read_scalar(const std::string& text, Extent<T>& value) {
  const std::size_t middle = text.find(" to ");
  if (middle == std::string::npos) refuse(text, wanted(value));
  Extent<T> read{};
  read_scalar(text.substr(0, middle), read.least);
  read_scalar(text.substr(middle + 4), read.most);
  if (read.most < read.least) throw Mistake{quoted(text) + " ends before it begins", ""};
  value = read;
}
template <class T>
std::string write_scalar(const Extent<T>& value) {
  return write_scalar(value.least) + " to " + write_scalar(value.most);
}
template <class T>
std::string wanted(const Extent<T>& value) {
  return "\"A to B\", each " + wanted(value.least);
}

// --- choices
template <Named E>
std::string wanted(E) {
  return one_of(names_of<E>());
}
template <Named E>
void read_scalar(const std::string& text, E& value) {
  for (const auto& [name, choice] : kNames<E>) {
    if (name != text) continue;
    value = choice;
    return;
  }
  throw Mistake{quoted(text) + " is not " + wanted(value), closest(text, names_of<E>())};
}
template <Named E>
std::string write_scalar(E value) {
  return name_of(value);
}

/// A name of `stepsim list shardings`.
void read_scalar(const std::string& text, Sharding& value);
inline std::string write_scalar(const Sharding& value) { return std::string(value.name); }
inline std::string wanted(const Sharding&) { return one_of(Registry<Sharding>::names()); }

/// Names of dimensions, joined: "tp-cp-ep-dp-pp".
void read_scalar(const std::string& text, RankOrder& value);
std::string write_scalar(const RankOrder& value);
inline std::string wanted(const RankOrder&) { return "an order such as tp-cp-ep-dp-pp"; }

// --- magnitudes, for ranges; words and switches have none
inline double magnitude(Integer auto value) { return static_cast<double>(value); }
inline double magnitude(double value) { return value; }
inline double magnitude(SampleTime value) { return value.time.seconds(); }
inline double magnitude(GpuPrice value) { return value.dollars_per_hour; }
inline double magnitude(Watts value) { return value.value; }
inline double magnitude(CarbonIntensity value) { return value.grams_per_kwh; }
template <int S, int B, int F>
double magnitude(Quantity<S, B, F> value) {
  return value.base();
}
template <class T>
double magnitude(const Extent<T>& value) {
  return magnitude(value.least);
}

template <class T>
concept Measurable = requires(T value) {
  magnitude(value);
};

/// What to write for a missing key of that type: "900 GB/s" has a unit that a reader could not
/// guess.
template <class T>
std::string example(const T& value) {
  if constexpr (requires { dimension_of(value); }) {
    return fmt::format("<number> {}", dimension_of(value).usual);
  } else {
    return fmt::format("<{}>", without_article(wanted(value)));
  }
}

/// A list on one line, as the flow style of YAML has it, of values that are written already.
inline std::string flow_list_of(const std::vector<std::string>& texts) {
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

template <class T>
std::string flow_list(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T& value : values) texts.push_back(write_scalar(value));
  return flow_list_of(texts);
}

}  // namespace stepsim
