// A Hugging Face config on its way to a model: what was read, what was filled in, what was written,
// what has to be said.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario/huggingface/huggingface_layout.hpp"
#include "sim/scenario/read/tree.hpp"

namespace stepsim {

/// Names that configs have for one thing.
using Keys = std::initializer_list<std::string_view>;

/// Each key that is asked for counts as read. At the end the others must be known to cost nothing,
/// or they are noted. `a.b` is the key b of the map a.
///
/// A key that is absent has the default of the layout's class; one that is null has no value.
class Translation {
 public:
  /// `path`: where the config stands, for messages.
  Translation(const Tree& config, const ModelLayout& layout, const std::string& path,
              Problems& problems);

  /// The entry of the first of these keys that is there and not null; all of them are known now.
  const Entry* find(Keys keys);
  bool has_null(Keys keys) const;
  /// Whether the layout's class has one of these keys.
  bool knows(Keys keys) const { return preset_of(keys) != nullptr; }

  /// Gives the model's `key` the value that stands there, or the default of the class; does
  /// nothing where the class has none of the keys.
  void copy(std::string_view key, Keys from) { copy(model_, key, from); }
  void copy(Tree& map, std::string_view key, Keys from);

  void set(std::string_view key, std::string_view value) { set(model_, key, value); }
  void set(std::string_view key, std::string_view value, const Entry* from) {
    set(model_, key, value, from);
  }
  void set(Tree& map, std::string_view key, std::string_view value);
  void set(std::string_view key, Tree map) { set(model_, key, std::move(map)); }
  void set(Tree& map, std::string_view key, Tree value);
  /// Where `from` is there, mistakes in the value are reported at it.
  void set(Tree& map, std::string_view key, std::string_view value, const Entry* from);
  void set_flag(std::string_view key, bool value) { set(key, value ? "true" : "false"); }

  /// A value that decides something here, where the class has the key; a mistake in it is reported.
  std::optional<std::string> text(Keys keys);
  std::optional<std::int64_t> integer(Keys keys, std::int64_t least = 0);
  bool flag(Keys keys);
  /// The words of a list; nothing where no list is there. `what`: what it has to be a list of. A
  /// mistake in it is reported.
  std::optional<std::vector<std::string>> list(Keys keys, std::string_view what);
  /// A number above 0 that is stated, or the class's own; a mistake in it is reported.
  std::optional<double> positive(Keys keys);
  /// Whether a rate is more than 0.
  bool drops(Keys keys);

  void note(std::string_view text) { notes_.emplace_back(text); }
  void refuse(const Entry& entry, const std::string& why, const std::string& proposal = "");
  /// Refuses the config where neither it nor its class has a value for a key that the class knows.
  void need(Keys keys);
  /// Refuses the config for a key that it lacks.
  void refuse_without(std::string_view key);

  Tree empty() const { return empty_map(config_.place); }
  /// The map of a model file, or nothing when a mistake was reported; the translation is used up.
  std::optional<Tree> finish(std::string_view model_type);

 private:
  using Preset = std::pair<std::string_view, std::string_view>;

  const Preset* preset_of(Keys keys) const;
  /// The default of the class, which is assumed now; nothing where it is null.
  std::optional<std::string_view> assumed(Keys keys);
  void refuse_contradiction(Keys keys);
  /// The key of the class that is absent and is meant by one that nobody knows; "": none is near.
  std::string misspelt(std::string_view key) const;
  void note_what_is_left_out();

  const Tree& config_;
  const std::string& path_;
  Problems& problems_;
  Tree model_;
  std::vector<Preset> presets_;
  std::set<std::string, std::less<>> read_;
  std::vector<std::string> notes_;
  std::vector<std::string> assumed_;
  std::set<const Entry*> refused_;  ///< each is reported once; nullptr: what is missing
};

/// The number that a word of a list of layers is, as 12 and not as 012; nothing for other words.
std::optional<std::int64_t> layer_number(const std::string& word);

}  // namespace stepsim
