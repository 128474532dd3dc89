// A configuration file of another program, key by key; every key that is asked for counts as read.
//
// JSON, YAML and TOML are one tree of values with places. Keys of nested maps are joined by dots:
// "parallelism.tensor_parallel_degree".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/json_tree.hpp"
#include "sim/import/draft.hpp"

namespace stepsim {

/// A key that changes a step in a way that scenarios cannot say.
struct UnsaidKey {
  std::string why;     ///< what is simulated in its place
  std::string preset;  ///< the value under which it changes nothing; "": false, 0, "no" and none
};

/// Keys of one section, as words; "" is the top.
struct SectionKeys {
  std::string_view section, keys;
};
/// Their paths: "model.norm_type".
std::set<std::string, std::less<>> paths_of(std::initializer_list<SectionKeys> sections);

/// What is known of a program's keys beside those that an importer reads.
struct KnownKeys {
  /// Sections and keys that leave the time of a step as it is, or nearly.
  std::set<std::string, std::less<>> harmless;
  std::map<std::string, UnsaidKey, std::less<>> unsaid;
  /// The program has so many other keys that one is named only where it is nearly a known one.
  bool has_many_more = false;
};

class Config {
 public:
  /// Reads a file; its notation is that of its ending (.json, .toml, else YAML). `kind` is what it
  /// ought to be, "a DeepSpeed configuration". A text value of `placeholder` counts as absent.
  /// Throws UserError where the file is no such notation or no map.
  Config(const std::string& path, std::string kind, std::string placeholder = "");
  /// Reads a text that is there.
  Config(const std::shared_ptr<const Source>& source, std::string kind,
         std::string placeholder = "");
  /// A map within another file.
  Config(JsonTree tree, std::string placeholder);

  /// The value at that path where it says something, else nullptr.
  const JsonTree* find(std::string_view path);
  /// The first of these paths that says something: newer and older spellings. Empty where none
  /// does.
  std::string first_of(std::initializer_list<std::string_view> paths);
  bool has(std::string_view path) { return find(path) != nullptr; }
  /// Whether the placeholder stands there.
  bool is_placeholder(std::string_view path);
  /// A whole number, which may be written as a float; 0: not stated, or refused.
  std::int64_t count(std::string_view path, std::int64_t least = 0);
  /// A degree of a split or another whole number from 1; `preset` where it is not stated.
  std::int64_t positive(std::string_view path, std::int64_t preset);
  std::optional<double> number(std::string_view path);
  bool is_on(std::string_view path, bool preset = false);
  std::string text(std::string_view path, const std::string& preset = "");
  /// One of the words that the program takes there, `preset` where it is absent. Reports another
  /// with the list and the nearest. Where case is `ignored` both are compared in small letters, and
  /// the word comes back as the list has it.
  enum class Case { counts, ignored };
  std::string choice(std::string_view path, const std::vector<std::string>& words,
                     const std::string& preset = "", Case letters = Case::counts);
  /// A list of texts, or a single one.
  std::vector<std::string> list(std::string_view path);

  /// Reports an item of the list at `path` that is none of these words.
  void check_words(std::string_view path, const std::vector<std::string>& words);

  /// Reports that the value at `path` is not what is wanted.
  void refuse(std::string_view path, const JsonTree& value, const std::string& wanted);
  /// Reports a mistake at the value of `path`, or at the whole file where that is absent.
  void report(std::string_view path, const std::string& message, const std::string& proposal = "");
  Problems& problems() { return problems_; }
  const JsonTree& tree() const { return tree_; }
  /// Folder that paths in the file may start from.
  std::string folder() const { return tree_.place.source ? tree_.place.source->folder : ""; }

  /// Notes keys that nobody has read: those that change a step, and those that are not known, with
  /// the nearest one that is.
  void note_the_rest(const KnownKeys& known, Draft& draft, const std::string& shown_prefix = "");

 private:
  const JsonTree* written(std::string_view path);
  void note_section(const std::string& prefix, const JsonTree& section, const KnownKeys& known,
                    Draft& draft, const std::string& shown_prefix);
  /// Whether some key within `path` is known, so that others there are looked at one by one.
  bool holds_known(const std::string& path, const KnownKeys& known) const;
  std::string proposal(const std::string& path, const KnownKeys& known) const;

  JsonTree tree_;
  std::string placeholder_;
  Problems problems_;
  std::set<std::string, std::less<>> read_;
};

/// A value as JSON has it, as far as it stands on a line.
std::string json_text(const JsonTree& value);
bool is_text(const JsonTree& value, std::string_view text);
/// true, yes and on, or their opposites; nothing for what is no switch.
std::optional<bool> switch_of(const JsonTree& value);
/// 0 for what is no number.
double number_of(const JsonTree& value);

/// Whether a line of a YAML file begins with this: "base_model:" is then a key of its top map.
bool has_line(const std::string& text, const std::string& beginning);

}  // namespace stepsim
