// Numbers of points, conditions on them, and what they set.
#include "sim/scenario/sweep/sweep_points.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/core/random.hpp"
#include "sim/core/suggest.hpp"
#include "sim/scenario/read/expression.hpp"
#include "sim/scenario/read/override.hpp"
#include "sim/scenario/scenario_of_tree.hpp"
#include "sim/scenario/sweep/axis_values.hpp"

namespace stepsim {
namespace {

/// The value of a key of an axis as expressions see it: a number in base units, or a word.
Datum datum_of(const std::string& text) {
  const auto number = number_in_base_units(text);
  return number ? Datum(*number) : Datum(text);
}

/// Where a name of a condition gets its value.
struct Binding {
  std::size_t axis = 0, path = 0;
  std::optional<Datum> constant;  ///< what the base states; absent: the axis has it
};

/// Every value that the base states, by its path.
void add_stated(const Tree& tree, const std::string& path, std::map<std::string, Datum>& stated) {
  if (tree.kind == Tree::Kind::scalar) stated.emplace(path, datum_of(tree.scalar));
  for (const Entry& entry : tree.entries)
    add_stated(entry.value, path.empty() ? entry.key : path + "." + entry.key, stated);
}

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Dots within names as '_': the expressions' names have none. The length stays, for carets.
std::string without_dots(std::string text) {
  bool quoted = false;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    const bool inside = text[i] == '.' && is_name_part(text[i - 1]) && is_name_part(text[i + 1]);
    const bool number = std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0;
    if (inside && !quoted && !number) text[i] = '_';
  }
  return text;
}

/// The short names by which a condition may call a key: its last word, and `pipeline` for
/// `parallelism.pipeline.stages`.
std::vector<std::string> names_of(const std::string& path) {
  std::string full = path;
  std::ranges::replace(full, '.', '_');
  std::vector<std::string> names{full};
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return names;
  names.push_back(path.substr(dot + 1));
  if (names.back() == "stages") names.emplace_back("pipeline");
  return names;
}

class Conditions {
 public:
  Conditions(const Sweep& sweep, Problems& problems) : sweep_(sweep), problems_(problems) {
    name_keys();
    for (const Phrase& phrase : sweep.where) add(phrase);
  }

  bool empty() const { return conditions_.empty(); }

  /// Nothing once a condition has no value that is true or false.
  bool admit(std::int64_t point) {
    const auto places = places_of(sweep_.axes, point);
    return std::ranges::all_of(conditions_,
                               [&](const Condition& one) { return holds(one, places); });
  }
  bool is_sound() const { return is_sound_; }

 private:
  struct Condition {
    const Phrase* phrase;
    Expression expression;
    std::map<std::string, Binding> names;
  };

  /// Axes come before what the base states, and full names before short ones, which have to be
  /// those of one key alone.
  void name_keys() {
    std::vector<std::pair<std::string, Binding>> of_axes, of_base;
    for (std::size_t a = 0; a < sweep_.axes.size(); ++a)
      for (std::size_t p = 0; p < sweep_.axes[a].paths.size(); ++p)
        of_axes.push_back({sweep_.axes[a].paths[p], {.axis = a, .path = p}});
    std::map<std::string, Datum> stated;
    add_stated(sweep_.scenario, "", stated);
    for (const auto& [path, value] : stated) of_base.push_back({path, {.constant = value}});
    for (const auto& keys : {of_axes, of_base})
      for (const auto& [path, binding] : keys) known_.emplace(names_of(path).front(), binding);
    for (const auto& keys : {of_axes, of_base}) add_short_names(keys);
  }

  /// A name that two keys of one kind share is nobody's, not even of the next kind.
  void add_short_names(const std::vector<std::pair<std::string, Binding>>& keys) {
    std::map<std::string, std::vector<Binding>> meant;
    for (const auto& [path, binding] : keys) {
      const auto names = names_of(path);
      for (std::size_t i = 1; i < names.size(); ++i) meant[names[i]].push_back(binding);
    }
    for (const auto& [name, bindings] : meant)
      if (ambiguous_.count(name) == 0 && bindings.size() == 1) known_.emplace(name, bindings[0]);
    for (const auto& [name, bindings] : meant)
      if (bindings.size() > 1) ambiguous_.insert(name);
  }

  Place within(const Phrase& phrase, int offset) const {
    Place place = phrase.place;
    place.column += place.line > 0 ? offset : offset + 1;
    return place;
  }

  void add(const Phrase& phrase) {
    try {
      Condition one{&phrase, Expression(without_dots(phrase.text)), {}};
      for (const std::string& name : one.expression.names()) {
        const auto found = known_.find(name);
        if (found == known_.end())
          report_unknown(phrase, one.expression, name);
        else
          one.names.emplace(name, found->second);
      }
      conditions_.push_back(std::move(one));
    } catch (const ExpressionError& error) {
      is_sound_ = false;
      problems_.add(within(phrase, error.offset), "where",
                    fmt::format("{} is not an expression: {}", quoted(phrase.text), error.message));
    }
  }

  void report_unknown(const Phrase& phrase, const Expression& expression, const std::string& name) {
    is_sound_ = false;
    std::vector<std::string> names;
    for (const auto& [known, ignored] : known_) names.push_back(known);
    const std::string near = closest(name, names);
    problems_.add(
        within(phrase, expression.offset_of(name)), "where",
        fmt::format("{} is no axis, and the scenario does not state it", quoted(name)),
        near.empty() ? "a condition reads axes by their last word, as in \"tensor <= 8\"" : near);
  }

  bool holds(const Condition& one, const std::vector<std::size_t>& places) {
    if (!is_sound_) return false;
    try {
      const Datum value = one.expression([&](const std::string& name) {
        const Binding& binding = one.names.at(name);
        if (binding.constant) return *binding.constant;
        const SweepAxis& axis = sweep_.axes[binding.axis];
        return datum_of(axis.values[places[binding.axis]].texts[binding.path]);
      });
      if (const bool* flag = std::get_if<bool>(&value)) return *flag;
      return refuse(one, 0,
                    fmt::format("is no condition: it is {} here", quoted(stepsim::text_of(value))),
                    "compare with ==, <=, < or their like");
    } catch (const ExpressionError& error) {
      return refuse(one, error.offset, "has no value: " + error.message, "");
    }
  }

  bool refuse(const Condition& one, int offset, const std::string& why,
              const std::string& proposal) {
    is_sound_ = false;
    problems_.add(within(*one.phrase, offset), "where",
                  fmt::format("{} {}", quoted(one.phrase->text), why), proposal);
    return false;
  }

  const Sweep& sweep_;
  Problems& problems_;
  std::map<std::string, Binding> known_;
  std::set<std::string> ambiguous_;
  std::vector<Condition> conditions_;
  bool is_sound_ = true;
};

std::vector<std::int64_t> admitted(std::int64_t grid, Conditions& conditions) {
  std::vector<std::int64_t> points;
  for (std::int64_t point = 0; point < grid && conditions.is_sound(); ++point)
    if (conditions.admit(point)) points.push_back(point);
  return points;
}

/// Some of the points, drawn so that each is as likely as any other (the first steps of Fisher and
/// Yates).
std::vector<std::int64_t> drawn(std::vector<std::int64_t> points, const RandomPoints& random) {
  const auto count =
      static_cast<std::size_t>(std::min(random.points, static_cast<std::int64_t>(points.size())));
  const RandomKey key = RandomKey(random.seed);
  for (std::size_t i = 0; i < count; ++i) {
    const double left = static_cast<double>(points.size() - i);
    const auto other = static_cast<std::size_t>(key.with(i).uniform() * left);
    std::swap(points[i], points[i + std::min(other, points.size() - i - 1)]);
  }
  points.resize(count);
  std::ranges::sort(points);
  return points;
}

}  // namespace

double grid_size(const std::vector<SweepAxis>& axes) {
  double size = 1;
  for (const SweepAxis& axis : axes) size *= static_cast<double>(axis.values.size());
  return size;
}

PointList points_of(const Sweep& sweep, Problems& problems) {
  const auto grid = static_cast<std::int64_t>(grid_size(sweep.axes));
  Conditions conditions(sweep, problems);
  if (!conditions.is_sound()) return PointList(0);
  if (conditions.empty() && !sweep.random) return PointList(grid);
  std::vector<std::int64_t> points = admitted(grid, conditions);
  if (!conditions.is_sound()) return PointList(0);
  return PointList(sweep.random ? drawn(std::move(points), *sweep.random) : std::move(points));
}

std::vector<std::pair<std::string, std::string>> settings_of(const std::vector<SweepAxis>& axes,
                                                             std::int64_t point) {
  std::vector<std::pair<std::string, std::string>> settings;
  const auto places = places_of(axes, point);
  for (std::size_t a = 0; a < axes.size(); ++a)
    for (std::size_t p = 0; p < axes[a].paths.size(); ++p)
      settings.emplace_back(axes[a].paths[p], axes[a].values[places[a]].texts[p]);
  return settings;
}

Scenario scenario_of(const Sweep& sweep, std::int64_t point, const KnownNames& known) {
  const Place& start = sweep.scenario.place;
  Reading reading{sweep.library, {}, {}};
  Tree tree = sweep.scenario;
  for (const auto& [path, text] : settings_of(sweep.axes, point))
    apply(Override{path, text}, tree, reading.problems);
  reading.problems.throw_if_any();
  return scenario_of_tree(tree, {start.source, 1, 1}, sweep.name, known, reading);
}

}  // namespace stepsim
