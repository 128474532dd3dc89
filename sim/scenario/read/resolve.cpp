// Following references from file to file.
#include "sim/scenario/read/resolve.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/hash.hpp"
#include "sim/core/suggest.hpp"
#include "sim/scenario/huggingface/huggingface.hpp"
#include "sim/scenario/read/parsed_file.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

/// On one line, as it reads back.
std::string flow_text(const Tree& tree) {
  std::vector<std::string> texts;
  for (const Tree& item : tree.items) texts.push_back(flow_text(item));
  for (const Entry& entry : tree.entries)
    texts.push_back(fmt::format("{}: {}", entry.key, flow_text(entry.value)));
  switch (tree.kind) {
    case Tree::Kind::empty:
      return "null";
    case Tree::Kind::scalar:
      return write_scalar(tree.scalar);
    case Tree::Kind::list:
      return flow_list_of(texts);
    case Tree::Kind::map:
      return fmt::format("{{{}}}", fmt::join(texts, ", "));
  }
  return "";
}

std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

}  // namespace

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".yaml") || text.ends_with(".yml") ||
         text.ends_with(".json");
}

std::optional<Resolved> Resolver::resolve(const Tree& value, const Place& key, const Kind& kind,
                                          const std::string& path) {
  if (value.kind == Tree::Kind::scalar) return read(value, value.place, kind, path);
  if (value.is_map() && value.find("base") != nullptr) return changed(value, kind, path);
  if (value.is_map()) return Resolved{value, "inline", fmt::format("'{}'", path), ""};
  problems_.add(key, path,
                fmt::format("{}: expected a {} by name{}, not {}", path, kind.title,
                            kind.by_path ? ", path or map" : "", title_of(value.kind)));
  return std::nullopt;
}

std::optional<Resolved> Resolver::changed(const Tree& map, const Kind& kind,
                                          const std::string& path) {
  auto result = with_base(map, kind, path);
  if (!result || map.entries.size() < 2) return result;
  for (const Entry& entry : map.entries) {
    if (entry.key == "base") continue;
    result->changes += fmt::format("{}{}: {}", result->changes.empty() ? "" : ", ", entry.key,
                                   flow_text(entry.value));
  }
  result->hash = fnv1a_hex(result->hash + result->changes);
  result->changed_by = map.place.source;
  return result;
}

std::optional<Resolved> Resolver::with_base(const Tree& map, const Kind& kind,
                                            const std::string& path) {
  const Entry& base = *map.find("base");
  if (base.value.kind != Tree::Kind::scalar) {
    problems_.add(base.key_place, path,
                  fmt::format("{}.base: expected the name of a {}, not {}", path, kind.title,
                              title_of(base.value.kind)));
    return std::nullopt;
  }
  auto below = read(base.value, base.value.place, kind, path);
  if (!below) return std::nullopt;
  Tree over = map;
  over.entries.erase(over.entries.begin() + (&base - map.entries.data()));
  below->tree = merged(std::move(below->tree), over);
  below->title = fmt::format("'{}'", path);
  return below;
}

std::optional<Resolved> Resolver::read(const Tree& name, const Place& place, const Kind& kind,
                                       const std::string& path) {
  const auto file = locate(name, place, kind, path);
  if (!file || closes_cycle(*file, place, kind, path)) return std::nullopt;
  std::shared_ptr<const Source> source;
  try {
    source = read_source(*file);
  } catch (const IoError& error) {
    problems_.add(place, path, error.what());
    return std::nullopt;
  }
  const bool foreign = kind.folder == kModelKind.folder && is_huggingface(*file);
  const auto text = foreign ? as_yaml(*source) : source;
  auto tree = library_.parsed ? library_.parsed->parse(text, path, problems_)
                              : parse_tree(text, path, problems_);
  if (!tree) return std::nullopt;
  const std::string title = fmt::format("{} {}", kind.title, quoted(stem_of(*file)));
  if (!tree->is_map()) {
    problems_.add(tree->place, path,
                  fmt::format("{} must be a map of keys, not {}", title, title_of(tree->kind)));
    return std::nullopt;
  }
  if (foreign) {
    auto model = model_of_huggingface(*tree, path, problems_);
    if (!model) return std::nullopt;
    return Resolved{std::move(*model), huggingface_name(*file), title, fnv1a_hex(source->text)};
  }
  Resolved result{std::move(*tree), stem_of(*file), title, fnv1a_hex(source->text)};
  if (result.tree.find("base") == nullptr) return result;
  open_files_.push_back(*file);
  auto based = with_base(result.tree, kind, path);
  open_files_.pop_back();
  if (!based) return std::nullopt;
  return Resolved{std::move(based->tree), result.name, title,
                  fnv1a_hex(based->hash + source->text)};
}

std::optional<std::string> Resolver::locate(const Tree& name, const Place& place, const Kind& kind,
                                            const std::string& path) {
  if (is_path(name.scalar)) {
    if (!kind.by_path) {
      problems_.add(place, path,
                    fmt::format("{}: {} is a path; a {} is given by its name in {}/", path,
                                quoted(name.scalar), kind.title, kind.folder));
      return std::nullopt;
    }
    const std::string file = joined(place.source ? place.source->folder : "", name.scalar);
    return kind.folder == kModelKind.folder && is_folder(file) ? joined(file, "config.json") : file;
  }
  for (const std::string& root : library_.roots) {
    for (const char* extension : {".yaml", ".yml"}) {
      const std::string file =
          joined(joined(root, std::string(kind.folder)), name.scalar + extension);
      if (is_file(file)) return file;
    }
  }
  const std::vector<std::string> names = names_in(std::string(kind.folder), library_);
  const std::string near = kind.nearest != nullptr ? kind.nearest(name.scalar, names) : "";
  const std::string proposal =
      names.empty()  ? fmt::format("nothing is there in {}", fmt::join(library_.roots, ", "))
      : near.empty() ? did_you_mean(name.scalar, names)
                     : fmt::format("the nearest is '{}'", near);
  problems_.add(place, path,
                fmt::format("no {} {} in {}/", kind.title, quoted(name.scalar), kind.folder),
                proposal);
  return std::nullopt;
}

bool Resolver::closes_cycle(const std::string& file, const Place& place, const Kind& kind,
                            const std::string& path) {
  const auto start = std::ranges::find_if(
      open_files_, [&](const std::string& open) { return is_same_file(open, file); });
  if (start == open_files_.end()) return false;
  std::vector<std::string> names;
  for (auto open = start; open != open_files_.end(); ++open) {
    names.push_back(std::filesystem::path(*open).filename().string());
  }
  names.push_back(names.front());
  problems_.add(
      place, path,
      fmt::format("this {} is based on itself: {}", kind.title, fmt::join(names, " -> ")));
  return true;
}

}  // namespace stepsim
