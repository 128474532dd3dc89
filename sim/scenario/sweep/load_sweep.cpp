// Sweeps: text to tree, tree and options to a sweep, every value of every axis to its key.
#include "sim/scenario/sweep/load_sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "sim/core/hash.hpp"
#include "sim/core/suggest.hpp"
#include "sim/scenario/describe/describe_sweep.hpp"
#include "sim/scenario/read/doc_writer.hpp"
#include "sim/scenario/read/map_reader.hpp"
#include "sim/scenario/read/override.hpp"
#include "sim/scenario/scenario_of_tree.hpp"
#include "sim/scenario/sweep/axis_values.hpp"
#include "sim/scenario/sweep/sweep_points.hpp"

namespace stepsim {
namespace {

/// Values of an axis that are tried before anything runs: of a longer one these first, and the
/// last.
constexpr std::size_t kTriedValues = 100;
/// Mistakes of an axis that are said; more of them are more of the same.
constexpr std::size_t kSaid = 3;

std::string stem_of(const std::string& file) { return std::filesystem::path(file).stem().string(); }

Tree map_in(const std::shared_ptr<const Source>& source, Problems& problems) {
  const auto tree = parse_tree(source, "", problems);
  problems.throw_if_any();
  if (!tree->is_map())
    problems.add(
        {source, 1, 1}, "",
        fmt::format("expected a scenario or a sweep, a map of keys, not {}", title_of(tree->kind)));
  problems.throw_if_any();
  return *tree;
}

std::vector<std::string> paths_in(const std::string& key) {
  std::vector<std::string> paths(1);
  for (const char c : key) {
    if (c == ',')
      paths.emplace_back();
    else if (c != ' ')
      paths.back() += c;
  }
  return paths;
}

void add_axes(const Tree& axes, Sweep& sweep, Problems& problems) {
  if (!axes.is_map())
    return problems.add(
        axes.place, "axes",
        fmt::format("axes: expected a map from keys to values, not {}", title_of(axes.kind)));
  for (const Entry& entry : axes.entries) {
    SweepAxis axis{.paths = paths_in(entry.key), .values = {}, .place = entry.key_place};
    add_values(entry.value, axis, problems);
    sweep.axes.push_back(std::move(axis));
  }
}

/// The base of a sweep's file: a map in it, or the map of the file that it names.
void follow_scenario(Tree scenario, Sweep& sweep, Problems& problems) {
  if (scenario.is_map()) {
    sweep.scenario = std::move(scenario);
    return;
  }
  const Place place = scenario.place;
  if (scenario.kind != Tree::Kind::scalar || !place.source)
    return problems.add(place, "scenario", "scenario: expected a map or the path of a file");
  try {
    const auto source = read_source(joined(place.source->folder, scenario.scalar));
    sweep.name = stem_of(source->name);
    sweep.scenario = map_in(source, problems);
    if (is_sweep(sweep.scenario))
      problems.add(place, "scenario",
                   fmt::format("scenario: {} is a sweep itself", quoted(source->name)),
                   "name what that one varies");
  } catch (const IoError& error) {
    problems.add(place, "scenario", fmt::format("scenario: {}", error.what()));
  }
}

void read_file(const std::shared_ptr<const Source>& source, const Tree& tree, Sweep& sweep,
               Problems& problems) {
  const Library none;
  Reading reading{none, problems, {}};
  SweepFile file;
  MapReader io(reading, tree, "", "the sweep", {source, 1, 1});
  describe(io, file);
  io.finish();
  problems = reading.problems;
  if (!problems.spoiled("scenario")) follow_scenario(std::move(file.scenario), sweep, problems);
  if (!problems.spoiled("axes")) add_axes(file.axes, sweep, problems);
  const Entry* where = tree.find("where");
  for (std::size_t i = 0; i < file.where.size(); ++i)
    sweep.where.push_back({.text = file.where[i], .place = where->value.items[i].place});
  sweep.random = file.random;
  sweep.objective = file.objective;
}

/// Adds an axis of the command line, in place of an axis of the file with equal keys.
void add_axis(SweepAxis axis, Sweep& sweep) {
  const auto same = [&](const SweepAxis& other) { return other.paths == axis.paths; };
  const auto found = std::ranges::find_if(sweep.axes, same);
  if (found == sweep.axes.end() || found->place.line == 0)
    sweep.axes.push_back(std::move(axis));
  else
    *found = std::move(axis);
}

void check_axes(const Sweep& sweep, Problems& problems) {
  std::set<std::string> seen;
  for (const SweepAxis& axis : sweep.axes)
    for (const std::string& path : axis.paths)
      if (!seen.insert(path).second)
        problems.add(axis.place, path, fmt::format("{} is varied twice", quoted(path)),
                     "give all its values at once");
  const double size = grid_size(sweep.axes);
  if (size <= static_cast<double>(kMostPoints)) return;
  std::string product;
  for (const SweepAxis& axis : sweep.axes)
    product += fmt::format("{}{}", product.empty() ? "" : " x ", axis.values.size());
  problems.add(
      sweep.axes.front().place, "axes",
      fmt::format("a grid of {} = {:.3g} points, more than {}", product, size, kMostPoints),
      "vary less, or in larger steps");
}

/// Every point would set the key again.
void refuse_varied(const Override& change, const std::vector<SweepAxis>& axes, Problems& problems) {
  for (const SweepAxis& axis : axes) {
    for (const std::string& path : axis.paths) {
      if (change.path != path && !change.path.starts_with(path + ".")) continue;
      const auto option = std::make_shared<Source>(
          Source{fmt::format("--set {}={}", change.path, change.value), "", "", true});
      problems.add({option, 0, 0}, change.path, fmt::format("{} is varied", quoted(path)),
                   "leave out the --set or the axis");
    }
  }
}

/// What is wrong with single keys once the values stand in the base.
std::vector<Diagnostic> mistakes_of(const Sweep& sweep,
                                    const std::vector<const AxisValue*>& values) {
  const Place& place = sweep.scenario.place;
  Reading reading{sweep.library, {}, {}};
  try {
    Tree tree = sweep.scenario;
    for (std::size_t a = 0; a < values.size(); ++a)
      for (std::size_t p = 0; p < sweep.axes[a].paths.size(); ++p)
        apply(Override{sweep.axes[a].paths[p], values[a]->texts[p]}, tree, reading.problems);
    unchecked_scenario(tree, {place.source, 1, 1}, sweep.name, reading);
    reading.problems.throw_if_any();
    return {};
  } catch (const UserError& error) {
    return error.diagnostics();
  }
}

/// Reports the mistakes that are about a value of the axis, where that value stands.
void report_value(const SweepAxis& axis, const AxisValue& value,
                  const std::vector<Diagnostic>& mistakes, std::set<std::string>& said,
                  Problems& problems) {
  for (const Diagnostic& mistake : mistakes) {
    for (std::size_t p = 0; p < axis.paths.size(); ++p) {
      const bool is_of_value = mistake.file == "--set " + axis.paths[p] + "=" + value.texts[p];
      if (is_of_value && said.size() < kSaid && said.insert(mistake.message).second)
        problems.add(value.place, axis.paths[p], mistake.message, mistake.proposal);
    }
  }
}

/// Every value is tried with the first ones of all other axes.
void check_values(const Sweep& sweep, Problems& problems) {
  std::vector<const AxisValue*> first;
  for (const SweepAxis& axis : sweep.axes) first.push_back(&axis.values.front());
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    const SweepAxis& axis = sweep.axes[a];
    std::set<std::string> said;
    for (std::size_t v = 0; v < axis.values.size(); ++v) {
      if (v >= kTriedValues && v + 1 < axis.values.size()) continue;
      auto values = first;
      values[a] = &axis.values[v];
      report_value(axis, axis.values[v], mistakes_of(sweep, values), said, problems);
    }
  }
  problems.throw_if_any();
  const auto of_base = mistakes_of(sweep, first);
  if (!of_base.empty()) throw UserError(of_base);
}

std::string canonical(const Tree& tree) {
  std::string text = fmt::format("{}:{}", static_cast<int>(tree.kind), tree.scalar);
  for (const Tree& item : tree.items) text += "[" + canonical(item) + "]";
  for (const Entry& entry : tree.entries)
    text += "{" + entry.key + "=" + canonical(entry.value) + "}";
  return text;
}

}  // namespace

Sweep load_sweep(const SweepRequest& request) {
  const auto source = read_source(request.path);
  Problems problems;
  problems.put_first(source->name);
  Sweep sweep{.name = stem_of(source->name), .scenario = {}, .axes = {}, .where = {}, .random = {}};
  const Tree tree = map_in(source, problems);
  if (is_sweep(tree))
    read_file(source, tree, sweep, problems);
  else
    sweep.scenario = tree;
  for (const std::string& text : request.vary) add_axis(parse_vary(text, problems), sweep);
  for (const std::string& text : request.where) {
    const auto option = std::make_shared<Source>(Source{"--where", "", text, true});
    sweep.where.push_back({.text = text, .place = {option, 0, 0}});
  }
  if (request.random > 0) sweep.random = RandomPoints{.points = request.random};
  if (request.seed > 0 && sweep.random) sweep.random->seed = request.seed;
  if (!request.objective.empty()) sweep.objective = request.objective;
  problems.throw_if_any();
  if (sweep.axes.empty())
    throw UserError(
        fmt::format("{}: nothing varies: add --vary path=values, as in "
                    "--vary training.micro_batch=1..8",
                    request.path));
  for (const Override& change : request.overrides) {
    refuse_varied(change, sweep.axes, problems);
    apply(change, sweep.scenario, problems);
  }
  check_axes(sweep, problems);
  problems.throw_if_any();
  sweep.library = library_for(sweep.scenario.place.source->name);
  check_values(sweep, problems);
  return sweep;
}

std::string identity_of(const Sweep& sweep) {
  std::string text = sweep.name + canonical(sweep.scenario);
  // the length comes first, because parts may hold any character
  const auto add = [&](char kind, const std::string& part) {
    text += fmt::format("{}{}:{}", kind, part.size(), part);
  };
  for (const SweepAxis& axis : sweep.axes) {
    for (const std::string& path : axis.paths) add('|', path);
    for (const AxisValue& value : axis.values)
      for (const std::string& one : value.texts) add(',', one);
  }
  for (const Phrase& where : sweep.where) add('&', where.text);
  if (sweep.random) text += fmt::format("?{},{}", sweep.random->points, sweep.random->seed);
  return fnv1a_hex(text);
}

}  // namespace stepsim
