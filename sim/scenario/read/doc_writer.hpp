// Collects all keys, with type, default and meaning, from the readers' own declarations.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/read/range.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/suite/suite.hpp"

namespace stepsim {

/// The one path of the scenario that ends in that key ("micro_batch": "training.micro_batch"), or the
/// one above all others ("tensor": "parallelism.tensor"); "" when none, or several of one depth.
std::string path_of_key(const std::string& key);

class DocWriter {
 public:
  struct Row {
    std::string path;
    std::string type;
    std::string preset;
    std::string meaning;
    std::string word{};  ///< of a map that a value may stand for: the key whose value it is
  };

  explicit DocWriter(bool is_profile = false, std::string prefix = "")
      : is_profile_(is_profile), prefix_(std::move(prefix)) {}

  const std::vector<Row>& rows() const { return rows_; }

  bool is_profile() const { return is_profile_; }
  bool stated(std::string_view) const { return false; }
  void adopt(std::optional<Framework>) {}
  std::optional<Framework> framework() const { return std::nullopt; }
  template <class T>
  void fallback(T&, const T&, std::string_view text) {
    fallback_ = text;
  }

  template <class T>
  void field(std::string_view key, T& value, const Rules& rules, std::string_view doc) {
    row(key, type_text(wanted(value), range_text<T>(rules)), rules, shown(write_scalar(value)),
        doc);
  }
  template <class T>
  void field(std::string_view key, std::optional<T>&, const Rules& rules, std::string_view doc) {
    row(key, type_text(wanted(T{}), range_text<T>(rules)), rules, "none", doc);
  }
  template <class T>
  void field(std::string_view key, std::vector<T>& values, const Rules& rules,
             std::string_view doc) {
    std::string preset;
    for (const T& value : values) preset += (preset.empty() ? "[" : ", ") + write_scalar(value);
    const std::string list =
        rules.length > 0 ? fmt::format("list of {}: ", rules.length) : "list: ";
    row(key, list + type_text(wanted(T{}), range_text<T>(rules)), rules,
        preset.empty() ? "none" : preset + "]", doc);
  }
  template <class T>
  void one_or_more(std::string_view key, std::vector<T>& values, const Rules& rules,
                   std::string_view doc) {
    row(key, type_text(wanted(T{}), range_text<T>(rules)) + ", or a list", rules,
        write_scalar(values.front()), doc);
  }
  template <class T>
  void constant(std::string_view key, T& value, const Rules& rules, std::string_view doc) {
    row(key, type_text(wanted(value), range_text<T>(rules)) + (is_profile_ ? ", with source" : ""),
        rules, shown(write_scalar(value)), doc);
  }

  template <class T>
  void section(std::string_view key, T& value, std::string_view doc, const char* preset = "") {
    row(key, "map", any, preset, doc);
    DocWriter io(is_profile_, prefix_ + std::string(key) + ".");
    describe(io, value);
    append(io);
  }
  template <class T>
  void section(std::string_view key, std::string_view word, T& value, std::string_view doc) {
    row(key, fmt::format("map, or its {}", word), any, "", doc);
    rows_.back().word = word;
    DocWriter io(is_profile_, prefix_ + std::string(key) + ".");
    describe(io, value);
    append(io);
  }
  template <class T>
  void section(std::string_view key, std::optional<T>&, T preset, std::string_view doc) {
    section(key, preset, doc, "none");
  }
  void group(std::string_view key, std::string_view doc,
             const std::function<void(DocWriter&)>& write);
  template <class T>
  void list(std::string_view key, std::vector<T>&, std::string_view doc) {
    T value{};
    section(std::string(key) + "[]", value, doc);
  }
  template <class T, class E>
  void variants(std::string_view key, std::vector<T>&, E T::*, std::string_view choice,
                std::string_view doc) {
    T value{};
    section(fmt::format("{}.<{}>", key, choice), value, doc);
  }

  void part(std::string_view key, Model&, std::string_view doc) {
    row(key, "name, path or map", required(), "", doc);
  }
  void part(std::string_view key, Cluster&, std::string_view doc) {
    row(key, "name, path or map", required(), "", doc);
  }
  void part(std::string_view key, GpuProfile&, std::string_view doc) {
    row(key, "name", required(), "", doc);
  }
  void part(std::string_view key, LinkProfile& link, std::string_view doc);
  void expectations(std::string_view key, std::vector<Expectation>&, std::string_view doc);
  void sources(std::string_view doc) { row("sources", "map", required(), "", doc); }
  void source(std::string_view doc) { row("source", "entry of sources", required(), "", doc); }
  void note(std::string_view key, std::string_view doc) { row(key, "text", any, "", doc); }
  void verbatim(std::string_view key, Tree&, const Rules& rules, std::string_view doc) {
    row(key, rules.is_required ? "map or path" : "list of maps", rules, "none", doc);
  }
  void phrase(std::string_view key, Phrase&, const Rules& rules, std::string_view doc) {
    row(key, "expression", rules, "none", doc);
  }
  void phrases(std::string_view key, std::vector<NamedPhrase>&, std::string_view doc) {
    row(key, "map of expressions", any, "none", doc);
  }

 private:
  void row(std::string_view key, const std::string& type, const Rules& rules,
           const std::string& preset, std::string_view doc);
  void append(const DocWriter& io) { rows_.insert(rows_.end(), io.rows_.begin(), io.rows_.end()); }
  /// "integer, between 1 and 64", without the article
  static std::string type_text(const std::string& wanted, const std::string& range);
  static std::string shown(const std::string& written) { return written == "\"\"" ? "" : written; }

  bool is_profile_;
  std::string prefix_;
  std::string fallback_;
  std::vector<Row> rows_;
};

/// Every key of a scenario, those of models of all kinds, of clusters and links among them.
const std::vector<DocWriter::Row>& scenario_rows();
/// The key that a value in place of the map at `path` stands for: "kind" for training.recompute;
/// empty where a value stands for none.
std::string shorthand_key(const std::string& path);
/// Their paths.
const std::vector<std::string>& scenario_paths();

/// One page of docs/scenario/: the keys of one map.
struct KeyPage {
  std::string file;  ///< name of the page, without ".md"
  std::string title;
  std::string lead;  ///< which map it is, a sentence
  std::vector<DocWriter::Row> rows;
};

/// All pages: the maps of a scenario, kinds of models, clusters, profiles and suites.
std::vector<KeyPage> key_pages();

}  // namespace stepsim
