// Splitting lists, and unfolding ranges.
#include "sim/scenario/sweep/axis_values.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/core/trim.hpp"
#include "sim/scenario/read/number.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/read/unit.hpp"

namespace stepsim {
namespace {

/// A factor of 1.0000001 would be a slip of the pen, and one of 1 would never end.
constexpr double kLeastFactor = 1.0001;
/// A range ends at its end although its steps are rounded.
constexpr double kRounding = 1e-9;

/// The parts between separators that stand in no brackets or quotes.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
    if (c == separator && depth <= 0 && quote == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

/// Factor to the base unit, and which dimension the unit is of.
struct KnownUnit {
  double factor = 1;
  const Dimension* dimension = nullptr;
};

std::optional<KnownUnit> unit_of(const std::string& name) {
  if (name.empty()) return KnownUnit{};
  if (name == "%") return KnownUnit{.factor = 0.01};
  for (const Dimension* dimension : {&dimension_of(Seconds{}), &dimension_of(Bytes{}),
                                     &dimension_of(Flops{}), &dimension_of(BytesPerSecond{}),
                                     &dimension_of(FlopsPerSecond{}), &dimension_of(PerSecond{})}) {
    for (const Unit& unit : dimension->units)
      if (unit.name == name) return KnownUnit{unit.factor, dimension};
  }
  return std::nullopt;
}

/// A number that ends a range, or its step.
struct End {
  double value = 0;
  std::string unit;
};

struct Range {
  End from, to, step;
  bool multiplies = false;
};

End end_of(const std::string& text, const std::string& whole) {
  const auto leading = leading_number(text);
  if (!leading)
    throw Mistake{fmt::format("{} has no number in {}", quoted(whole), quoted(text)),
                  "write \"1..8\", \"10..100+10\" or \"1 MiB..256 MiB*2\""};
  if (!unit_of(leading->rest))
    throw Mistake{fmt::format("{} has the unknown unit {}", quoted(whole), quoted(leading->rest)),
                  ""};
  return {leading->value, leading->rest};
}

/// Where the step begins: a sign that is not an exponent's.
std::size_t step_begin(const std::string& text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool exponent = (text[i - 1] == 'e' || text[i - 1] == 'E') && text[i] == '+';
    if (text[i] == '*' || (text[i] == '+' && !exponent)) return i;
  }
  return std::string::npos;
}

Range range_of(const std::string& text, UsualStep usual) {
  const std::size_t dots = text.find("..");
  std::string last = text.substr(dots + 2);
  const std::size_t sign = step_begin(last);
  Range range;
  range.from = end_of(text.substr(0, dots), text);
  range.to = end_of(last.substr(0, sign), text);
  range.multiplies = usual == UsualStep::doubles;
  range.step = {range.multiplies ? 2.0 : 1.0, ""};
  if (sign != std::string::npos) {
    range.multiplies = last[sign] == '*';
    range.step = end_of(last.substr(sign + 1), text);
  }
  return range;
}

/// The end in the unit that the range counts in.
double in_unit(const End& end, const std::string& unit, const std::string& whole) {
  if (end.unit.empty() || end.unit == unit) return end.value;
  const KnownUnit own = *unit_of(end.unit), wanted = *unit_of(unit);
  if (own.dimension != wanted.dimension)
    throw Mistake{fmt::format("{} mixes {} and {}", quoted(whole), end.unit, unit), ""};
  return end.value * own.factor / wanted.factor;
}

std::vector<std::string> unfolded(const std::string& text, UsualStep usual) {
  Range range = range_of(text, usual);
  const std::string unit = !range.from.unit.empty() ? range.from.unit : range.to.unit;
  const double from = in_unit(range.from, unit, text), to = in_unit(range.to, unit, text);
  if (to < from) throw Mistake{fmt::format("{} ends before it begins", quoted(text)), ""};
  if (range.multiplies && !range.step.unit.empty())
    throw Mistake{
        fmt::format("{} multiplies by {}, which has a unit", quoted(text), range.step.unit), ""};
  const double step = range.multiplies ? range.step.value : in_unit(range.step, unit, text);
  if (range.multiplies ? step < kLeastFactor || from <= 0 : step <= 0)
    throw Mistake{fmt::format("{} never ends", quoted(text)),
                  "a step is above 0, a factor above 1 and begins above 0"};
  const double count = range.multiplies ? std::log(to / from) / std::log(step) : (to - from) / step;
  if (!(count < static_cast<double>(kMostAxisValues)))
    throw Mistake{fmt::format("{} has more than {} values", quoted(text), kMostAxisValues),
                  "make its step larger, or write it as \"A..B*2\""};
  std::vector<std::string> values;
  for (int i = 0; i <= static_cast<int>(count + kRounding); ++i) {
    const double value = range.multiplies ? from * std::pow(step, i) : from + step * i;
    // Twelve digits: 0.1 + 2 x 0.1 is 0.3.
    values.push_back(fmt::format("{:.12g}{}{}", value, unit.empty() ? "" : " ", unit));
  }
  return values;
}

std::string shape_of(const SweepAxis& axis) {
  std::string shape;
  for (std::size_t i = 0; i < axis.paths.size(); ++i)
    shape += fmt::format("{}{}", i == 0 ? "" : ":", i + 1);
  return shape;
}

void add_one(std::vector<std::string> texts, const Place& place, SweepAxis& axis,
             Problems& problems) {
  const std::string title = title_of(axis);
  if (texts.size() != axis.paths.size())
    return problems.add(
        place, title, fmt::format("{} values for {} linked keys", texts.size(), axis.paths.size()),
        fmt::format("write as many in each, as in \"{}\"", shape_of(axis)));
  if (std::ranges::any_of(texts, [](const auto& text) { return text.empty(); }))
    return problems.add(place, title, fmt::format("{}: a value is empty", title),
                        "leave out the comma, or write \"\" for an empty text");
  const auto number = texts.size() == 1 ? number_in_base_units(texts.front()) : std::nullopt;
  const AxisValue value{std::move(texts), number, place};
  if (axis.values.size() >= kMostAxisValues)
    return problems.add(place, title,
                        fmt::format("{} has more than {} values", title, kMostAxisValues));
  axis.values.push_back(value);
}

/// What stands in quotes is a text, whatever it looks like.
bool is_range(const std::string& text) {
  const bool is_quoted = text.starts_with('\'') || text.starts_with('"');
  return !is_quoted && text.find("..") != std::string::npos;
}

/// Adds an item of a list: a value, or a range where one key varies.
void add_item(const std::string& item, const Place& place, SweepAxis& axis, Problems& problems,
              UsualStep usual = UsualStep::counts) {
  if (axis.paths.size() > 1) return add_one(split(item, ':'), place, axis, problems);
  const bool path = item.find('/') != std::string::npos && !number_if_any(item);
  if (!is_range(item) || path) return add_one({item}, place, axis, problems);
  try {
    for (const std::string& text : unfolded(item, usual)) add_one({text}, place, axis, problems);
  } catch (const Mistake& mistake) {
    problems.add(place, title_of(axis), mistake.message, mistake.proposal);
  }
}

/// A value of a file as `--set` has it.
std::string text_of(const Tree& tree) {
  if (tree.kind == Tree::Kind::scalar) return tree.scalar;
  if (tree.kind == Tree::Kind::empty) return "null";
  std::string text;
  const bool is_list = tree.kind == Tree::Kind::list;
  for (const Tree& item : tree.items) text += (text.empty() ? "" : ", ") + text_of(item);
  for (const Entry& entry : tree.entries)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", entry.key, text_of(entry.value));
  return (is_list ? "[" : "{") + text + (is_list ? "]" : "}");
}

/// `1 MiB` and `1024 KiB` are one value.
void check_twins(const SweepAxis& axis, Problems& problems) {
  std::map<std::string, const AxisValue*> seen;
  for (const AxisValue& value : axis.values) {
    const std::string key = value.number ? fmt::format("{}", *value.number) : text_of(value);
    const auto [other, is_new] = seen.emplace(key, &value);
    if (is_new) continue;
    const std::string title = title_of(axis), text = text_of(value);
    const bool same = text == text_of(*other->second);
    return problems.add(value.place, title,
                        fmt::format("{}: {} stands twice{}", title, quoted(text),
                                    same ? "" : ", once as " + quoted(text_of(*other->second))));
  }
}

void check_paths(const SweepAxis& axis, Problems& problems) {
  for (std::size_t i = 0; i < axis.paths.size(); ++i) {
    const auto end = axis.paths.begin() + static_cast<std::ptrdiff_t>(i);
    if (axis.paths[i].empty())
      problems.add(axis.place, "", "an axis without a key",
                   "write \"path=values\", as in \"training.micro_batch=1..8\"");
    else if (std::find(axis.paths.begin(), end, axis.paths[i]) != end)
      problems.add(axis.place, axis.paths[i],
                   fmt::format("{} is linked to itself", quoted(axis.paths[i])));
  }
}

}  // namespace

std::optional<double> number_in_base_units(const std::string& text) try {
  const auto leading = leading_number(text);
  if (!leading) return std::nullopt;
  const auto unit = unit_of(leading->rest);
  return unit ? std::optional(leading->value * unit->factor) : std::nullopt;
} catch (const Mistake&) {
  return std::nullopt;
}

void add_values(const std::string& text, const Place& place, SweepAxis& axis, Problems& problems,
                UsualStep usual) {
  if (trimmed(text).empty())
    return problems.add(place, title_of(axis), fmt::format("{} has no values", title_of(axis)),
                        "write some, as in \"1, 2, 4\" or \"1..8\"");
  for (const std::string& item : split(text, ',')) add_item(item, place, axis, problems, usual);
  check_twins(axis, problems);
}

void add_values(const Tree& value, SweepAxis& axis, Problems& problems) {
  if (value.kind == Tree::Kind::scalar)
    return add_values(value.scalar, value.place, axis, problems);
  if (value.kind != Tree::Kind::list || value.items.empty())
    return problems.add(value.place, title_of(axis),
                        fmt::format("{} has no values", title_of(axis)),
                        "write some, as in [1, 2, 4] or 1..8");
  for (const Tree& item : value.items) {
    if (axis.paths.size() > 1 && item.kind == Tree::Kind::list) {
      std::vector<std::string> texts;
      for (const Tree& part : item.items) texts.push_back(text_of(part));
      add_one(std::move(texts), item.place, axis, problems);
    } else {
      add_item(text_of(item), item.place, axis, problems);
    }
  }
  check_twins(axis, problems);
}

SweepAxis parse_vary(const std::string& text, Problems& problems) {
  const std::size_t equals = text.find('=');
  const std::string name = quoted("--vary " + text);
  const auto source =
      std::make_shared<Source>(Source{name.substr(1, name.size() - 2), "", text, true});
  SweepAxis axis{.place = {source, 0, 0}};
  if (equals == std::string::npos) {
    problems.add(axis.place, "", "no '=' between key and values",
                 "write \"path=values\", as in \"training.micro_batch=1..8\"");
    return axis;
  }
  axis.paths = split(text.substr(0, equals), ',');
  check_paths(axis, problems);
  add_values(text.substr(equals + 1), axis.place, axis, problems);
  return axis;
}

}  // namespace stepsim
