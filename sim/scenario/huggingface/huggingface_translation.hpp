// A Hugging Face config on its way to a model: what was read, what was written, what has to be
// said.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/read/tree.hpp"

namespace stepsim {

/// Each key that a family asks for counts as read. At the end the others must be known to cost
/// nothing, or they are noted.
class Translation {
 public:
  /// `path`: where the config stands, for messages.
  Translation(const Tree& config, const std::string& path, Problems& problems)
      : config_(config), path_(path), problems_(problems), model_(empty_map(config.place)) {}

  /// The entry of the first of these keys that is there and not null; all of them are known now.
  const Entry* find(std::initializer_list<std::string_view> keys);
  bool has_null(std::string_view key) const;

  /// Gives the model's `key` the value that stands there, or the default of the class.
  void copy(std::string_view key, std::initializer_list<std::string_view> from,
            std::string_view preset) {
    copy(model_, key, from, preset);
  }
  void copy(Tree& map, std::string_view key, std::initializer_list<std::string_view> from,
            std::string_view preset);
  void copy_if_there(std::string_view key, std::initializer_list<std::string_view> from) {
    copy_if_there(model_, key, from);
  }
  void copy_if_there(Tree& map, std::string_view key, std::initializer_list<std::string_view> from);

  void set(std::string_view key, std::string_view value) { set(model_, key, value); }
  void set(Tree& map, std::string_view key, std::string_view value);
  void set(std::string_view key, Tree map);

  /// A number that takes part in arithmetic here; a mistake in it is reported.
  std::int64_t integer(std::string_view key, std::int64_t preset);
  bool flag(std::string_view key, bool preset);
  /// Whether a rate, `preset` where it is absent, is more than 0.
  bool drops(std::string_view key, std::string_view preset);

  void note(const std::string& text) { notes_.push_back(text); }
  void refuse(const Entry& entry, const std::string& why);

  Tree empty() const { return empty_map(config_.place); }
  /// The map of a model file; the translation is used up.
  Tree finish(std::string_view model_type);

 private:
  void note_what_is_left_out();

  const Tree& config_;
  const std::string& path_;
  Problems& problems_;
  Tree model_;
  std::set<std::string> read_;
  std::vector<std::string> notes_;
};

}  // namespace stepsim
