// Fills a struct from a map, strictly: every key must be known, given once, of its type and in its
// range.
//
// One MapReader reads one map. `describe` (describe.hpp) declares the keys; `finish` then reports
// the keys that nobody declared and the required ones that are missing. Mistakes go to the
// Reading's problems; a value with a mistake keeps its default.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/problems.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/read/places.hpp"
#include "sim/scenario/read/range.hpp"
#include "sim/scenario/read/resolve.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/read/tree.hpp"
#include "sim/scenario/suite/suite.hpp"

namespace stepsim {

/// What the readers of one load share.
struct Reading {
  const Library& library;
  Problems problems;
  Places places;                       ///< of every key that was read
  std::optional<Framework> framework;  ///< once its key has been read
};

class MapReader {
 public:
  /// `path` is the dotted name of the map ("" for the root), `title` what messages call it, `at`
  /// the place to cite for keys that are missing.
  MapReader(Reading& reading, const Tree& map, std::string path, std::string title, Place at);

  /// In a profile every constant is `{value: ..., source: id}`, the ids being keys of `sources`.
  /// What a scenario or --set changes of a profile needs none: `changed_by` is the scenario's text.
  void expect_sources(std::shared_ptr<const Source> changed_by = nullptr) {
    sources_.emplace();
    changed_by_ = std::move(changed_by);
  }
  bool is_profile() const { return sources_.has_value(); }

  template <class T>
  void field(std::string_view key, T& value, const Rules& rules, std::string_view doc);
  template <class T>
  void field(std::string_view key, std::optional<T>& value, const Rules& rules,
             std::string_view doc);
  template <class T>
  void field(std::string_view key, std::vector<T>& values, const Rules& rules,
             std::string_view doc);

  /// A list, or a value that is a list of its own.
  template <class T>
  void one_or_more(std::string_view key, std::vector<T>& values, const Rules& rules,
                   std::string_view doc);

  /// Sets the default of the field that follows; `text` is for the documentation.
  template <class T>
  void fallback(T& value, const T& preset, std::string_view) {
    value = preset;
  }
  bool stated(std::string_view key) const { return map_.find(key) != nullptr; }
  /// The framework whose defaults hold from here on.
  void adopt(std::optional<Framework> framework) { reading_.framework = framework; }
  std::optional<Framework> framework() const { return reading_.framework; }

  template <class T>
  void section(std::string_view key, T& value, std::string_view doc);
  /// A map, or a value that is its `word` alone: `recompute: full` is `recompute: {kind: full}`.
  template <class T>
  void section(std::string_view key, std::string_view word, T& value, std::string_view doc);
  /// Absent or null: nothing. Otherwise its keys replace those of `preset`.
  template <class T>
  void section(std::string_view key, std::optional<T>& value, T preset, std::string_view doc);
  void group(std::string_view key, std::string_view doc,
             const std::function<void(MapReader&)>& read);
  template <class T>
  void list(std::string_view key, std::vector<T>& values, std::string_view doc);
  /// A map from choices to maps; an entry with `like: other` starts from another one.
  template <class T, class E>
  void variants(std::string_view key, std::vector<T>& values, E T::*choice, std::string_view title,
                std::string_view doc);

  void sources(std::string_view doc);
  void source(std::string_view doc);
  void note(std::string_view key, std::string_view) { take(key); }
  template <class T>
  void constant(std::string_view key, T& value, const Rules& rules, std::string_view doc);

  void part(std::string_view key, Model& model, std::string_view doc);
  void part(std::string_view key, Cluster& cluster, std::string_view doc);
  void part(std::string_view key, GpuProfile& gpu, std::string_view doc);
  void part(std::string_view key, LinkProfile& link, std::string_view doc);
  void expectations(std::string_view key, std::vector<Expectation>& expectations,
                    std::string_view doc);

  /// The value as it stands.
  void verbatim(std::string_view key, Tree& value, const Rules& rules, std::string_view doc);
  /// An expression over columns, or `{of: expression, values: {of it: what it stands for}}`, which
  /// may have `otherwise`.
  void phrase(std::string_view key, Phrase& phrase, const Rules& rules, std::string_view doc);
  /// A map from names of one's own choice to phrases.
  void phrases(std::string_view key, std::vector<NamedPhrase>& phrases, std::string_view doc);

  void finish();

 private:
  struct Missing {
    std::string key;
    std::string example;
  };

  std::string path_of(std::string_view key) const;
  /// Declares the key and finds its entry; nullptr when absent.
  const Entry* take(std::string_view key);
  /// Whether it stands in a text that changes a profile, rather than in the profile.
  bool is_change(const Place& place) const;
  const Entry* take_required(std::string_view key, const Rules& rules, const std::string& example);
  /// A map below this one; for a mistake or an absent entry an empty one.
  MapReader below(std::string_view key, const Entry* entry);
  MapReader below(const std::string& path, const Tree& value, const Place& at);
  /// The map {word: value} in place of the entry's value.
  MapReader of_word(std::string_view key, std::string_view word, const Entry& entry);
  std::optional<Resolved> resolve(std::string_view key, const Kind& kind);
  /// `read` fills the part, unless it was read before.
  template <class Part, class Read>
  void read_once(std::string_view key, Part& part, const Read& read);
  template <class Part>
  void read_part(std::string_view key, const Resolved& resolved, Part& part);
  template <class Profile>
  void read_profile(std::string_view key, const Resolved& resolved, Profile& profile,
                    bool has_sources);
  /// Whether the value has that kind; reports it otherwise.
  bool is(Tree::Kind kind, const Tree& value, const std::string& path, const Place& key_place,
          const std::string& wanted);
  void read_phrase(const Entry& entry, Phrase& phrase);
  void report_unknown(const Entry& entry, std::vector<std::string>& meant);
  /// The end of a path of a scenario where this map is the one that has it.
  std::optional<std::string> known_leaf(std::string_view path) const;
  void check_name(const std::string& name, const std::string& file);
  /// The entry with everything that its `like` names; nothing when that leads nowhere.
  std::optional<Tree> unlike(const Tree& variants, const Entry& entry, const std::string& path,
                             std::vector<std::string> seen = {});

  template <class T>
  bool read_value(const Tree& value, const Place& key_place, const std::string& path, T& result,
                  const Rules& rules);
  void report(const Place& place, const std::string& path, const Mistake& mistake);

  Reading& reading_;
  Tree map_;
  std::string path_;
  std::string title_;
  Place at_;
  bool is_usable_ = true;  ///< false: it is no map at all, which was reported
  std::vector<std::string> known_;
  std::vector<Missing> missing_;
  std::optional<std::vector<std::string>> sources_;
  std::shared_ptr<const Source> changed_by_;
};

template <class T>
bool MapReader::read_value(const Tree& value, const Place& key_place, const std::string& path,
                           T& result, const Rules& rules) {
  if (!is(Tree::Kind::scalar, value, path, key_place, wanted(result))) return false;
  try {
    T read{};
    read_scalar(value.scalar, read);
    if constexpr (Measurable<T>) {
      if (!rules.admits(magnitude(read)))
        throw Mistake{quoted(value.scalar) + " must be " + range_text<T>(rules), ""};
    }
    result = read;
    return true;
  } catch (Mistake& mistake) {
    if constexpr (Measurable<T>) check_proposal<T>(mistake, rules);
    report(value.place, path, mistake);
    return false;
  }
}

template <class T>
void MapReader::field(std::string_view key, T& value, const Rules& rules, std::string_view) {
  const Entry* entry = take_required(key, rules, example(value));
  if (entry != nullptr) read_value(entry->value, entry->key_place, path_of(key), value, rules);
}

template <class T>
void MapReader::field(std::string_view key, std::optional<T>& value, const Rules& rules,
                      std::string_view) {
  const Entry* entry = take(key);
  if (entry == nullptr || entry->value.kind == Tree::Kind::empty) return;
  T read{};
  if (read_value(entry->value, entry->key_place, path_of(key), read, rules)) value = read;
}

template <class T>
void MapReader::field(std::string_view key, std::vector<T>& values, const Rules& rules,
                      std::string_view) {
  const Entry* entry = take_required(key, rules, "[...]");
  if (entry == nullptr) return;
  if (!is(Tree::Kind::list, entry->value, path_of(key), entry->key_place, "a list")) return;
  values.clear();
  for (const Tree& item : entry->value.items) {
    T read{};
    read_value(item, item.place, path_of(key), read, rules);
    values.push_back(read);
  }
  if (rules.length == 0 || values.size() == rules.length) return;
  report(entry->value.place, path_of(key),
         {fmt::format("expected {} values, not {}", rules.length, values.size()), ""});
}

template <class T>
void MapReader::one_or_more(std::string_view key, std::vector<T>& values, const Rules& rules,
                            std::string_view doc) {
  const Entry* entry = map_.find(key);
  if (entry == nullptr || entry->value.kind != Tree::Kind::scalar)
    return field(key, values, rules, doc);
  take(key);
  T read{};
  if (read_value(entry->value, entry->key_place, path_of(key), read, rules)) values = {read};
}

template <class T>
void MapReader::section(std::string_view key, T& value, std::string_view) {
  MapReader io = below(key, take(key));
  describe(io, value);
  io.finish();
}

template <class T>
void MapReader::section(std::string_view key, std::string_view word, T& value, std::string_view) {
  const Entry* entry = take(key);
  const bool is_word = entry != nullptr && entry->value.kind == Tree::Kind::scalar;
  MapReader io = is_word ? of_word(key, word, *entry) : below(key, entry);
  describe(io, value);
  io.finish();
}

template <class T>
void MapReader::section(std::string_view key, std::optional<T>& value, T preset, std::string_view) {
  const Entry* entry = take(key);
  if (entry == nullptr || entry->value.kind == Tree::Kind::empty) return;
  value = preset;
  MapReader io = below(key, entry);
  describe(io, *value);
  io.finish();
}

template <class T>
void MapReader::list(std::string_view key, std::vector<T>& values, std::string_view) {
  const Entry* entry = take(key);
  if (entry == nullptr ||
      !is(Tree::Kind::list, entry->value, path_of(key), entry->key_place, "a list"))
    return;
  for (const Tree& item : entry->value.items) {
    const std::string path = fmt::format("{}[{}]", path_of(key), values.size());
    reading_.places.set(path, item.place);
    MapReader io = below(path, item, item.place);
    describe(io, values.emplace_back());
    io.finish();
  }
}

template <class T, class E>
void MapReader::variants(std::string_view key, std::vector<T>& values, E T::*choice,
                         std::string_view, std::string_view) {
  const Entry* entry = take_required(key, required(), "<map>");
  if (entry == nullptr ||
      !is(Tree::Kind::map, entry->value, path_of(key), entry->key_place, "a map"))
    return;
  for (const Entry& variant : entry->value.entries) {
    const std::string path = path_of(key) + "." + variant.key;
    T value{};
    try {
      read_scalar(variant.key, value.*choice);
    } catch (const Mistake& mistake) {
      report(variant.key_place, path, mistake);
      continue;
    }
    const auto tree = unlike(entry->value, variant, path);
    if (!tree) continue;
    MapReader io = below(path, *tree, variant.key_place);
    describe(io, value);
    io.finish();
    values.push_back(value);
  }
}

template <class T>
void MapReader::constant(std::string_view key, T& value, const Rules& rules, std::string_view doc) {
  if (!is_profile()) return field(key, value, rules, doc);
  const std::string shape = fmt::format("{{value: {}, source: <id>}}", example(value));
  const Entry* entry = take_required(key, rules, shape);
  if (entry == nullptr) return;
  if (entry->value.kind == Tree::Kind::scalar && is_change(entry->value.place))
    return field(key, value, rules, doc);
  if (!entry->value.is_map()) {
    const std::string written =
        entry->value.kind == Tree::Kind::scalar ? entry->value.scalar : example(value);
    report(entry->value.place, path_of(key),
           {"a constant of a profile needs a source",
            fmt::format("write \"{}: {{value: {}, source: <id>}}\"", key, written)});
    return;
  }
  MapReader io = below(key, entry);
  io.field("value", value, required(rules), doc);
  io.source(doc);
  io.finish();
}

}  // namespace stepsim
