// Writes a struct as YAML text with every key, so that it reads back as an equal struct. In a
// profile every constant is written with its source.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Where the constants of a profile come from.
struct ProfileSources {
  std::vector<std::pair<std::string, std::string>> texts;  ///< id and text, in the file's order
  /// Dotted path of a constant, or of what holds it ("gemm.bf16", "attention[0]"), to the id; the
  /// longest path holds, "" is for all others.
  std::map<std::string, std::string> of;
};

/// A file of calib/; `title` is its first line, as a comment. The sources that no constant has are
/// left out. REQUIRES: an id for each constant, and no path that no constant has.
std::string profile_yaml(const GpuProfile& profile, const std::string& title,
                         const ProfileSources& sources);
std::string profile_yaml(const LinkProfile& profile, const std::string& title,
                         const ProfileSources& sources);

class MapWriter {
 public:
  /// The sources of a profile, and which of their ids and paths its constants have.
  struct Sources {
    const ProfileSources& known;
    std::set<std::string> ids, paths;

    const std::string& id_of(const std::string& path);
  };

  /// `sources`: of the profile that is written; nullptr for anything else.
  explicit MapWriter(Sources* sources = nullptr, std::string path = "", int indent = 0)
      : sources_(sources), path_(std::move(path)), indent_(indent) {}
  const std::string& text() const { return text_; }

  bool is_profile() const { return sources_ != nullptr; }
  bool stated(std::string_view) const { return false; }
  void adopt(std::optional<Framework>) {}
  std::optional<Framework> framework() const { return std::nullopt; }
  template <class T>
  void fallback(T&, const T&, std::string_view) {}

  template <class T>
  void field(std::string_view key, T& value, const Rules&, std::string_view) {
    line(key, write_scalar(value));
  }
  template <class T>
  void field(std::string_view key, std::optional<T>& value, const Rules&, std::string_view) {
    if (value) line(key, write_scalar(*value));
  }
  template <class T>
  void field(std::string_view key, std::vector<T>& values, const Rules&, std::string_view) {
    if (!values.empty()) line(key, flow_list(values));
  }
  template <class T>
  void one_or_more(std::string_view key, std::vector<T>& values, const Rules&, std::string_view) {
    if (!values.empty())
      line(key, values.size() == 1 ? write_scalar(values[0]) : flow_list(values));
  }
  template <class T>
  void constant(std::string_view key, T& value, const Rules&, std::string_view) {
    line_of_constant(key, write_scalar(value));
  }

  template <class T>
  void section(std::string_view key, T& value, std::string_view) {
    group(key, "", [&](MapWriter& io) { describe(io, value); });
  }
  template <class T>
  void section(std::string_view key, std::string_view, T& value, std::string_view doc) {
    section(key, value, doc);
  }
  template <class T>
  void section(std::string_view key, std::optional<T>& value, const T&, std::string_view doc) {
    if (value) section(key, *value, doc);
  }
  void group(std::string_view key, std::string_view, const std::function<void(MapWriter&)>& write) {
    MapWriter io = below(std::string(key) + ".", kStep);
    write(io);
    nest(key, io);
  }

  void part(std::string_view key, Model& model, std::string_view doc);
  void part(std::string_view key, Cluster& cluster, std::string_view doc);
  void part(std::string_view key, GpuProfile& gpu, std::string_view) {
    named(key, gpu.name, gpu.changes);
  }
  /// A measured link by name, another one with its numbers; none where a node has one GPU.
  void part(std::string_view key, LinkProfile& link, std::string_view doc);
  void expectations(std::string_view key, std::vector<Expectation>& expectations,
                    std::string_view doc);

  template <class T>
  void list(std::string_view key, std::vector<T>& values, std::string_view) {
    if (values.empty()) return;
    MapWriter items = below("", kStep);
    for (std::size_t i = 0; i < values.size(); ++i) {
      MapWriter io = below(fmt::format("{}[{}].", key, i), 2 * kStep);
      describe(io, values[i]);
      items.item(io);
    }
    nest(key, items);
  }
  template <class T, class E>
  void variants(std::string_view key, std::vector<T>& values, E T::*choice, std::string_view,
                std::string_view) {
    MapWriter all = below("", kStep);
    for (T& value : values) {
      const std::string name = write_scalar(value.*choice);
      MapWriter io = below(fmt::format("{}.{}.", key, name), 2 * kStep);
      describe(io, value);
      all.nest(name, io);
    }
    nest(key, all);
  }

  void sources(std::string_view) {
    if (is_profile()) text_ += kSources;
  }
  void source(std::string_view) {
    if (is_profile()) line("source", sources_->id_of(path_));
  }
  void note(std::string_view, std::string_view) {}

  /// Stands for the map of sources until it is known which are used.
  static constexpr const char* kSources = "\x01sources\n";

 private:
  static constexpr int kStep = 2;
  MapWriter below(const std::string& path, int step) const {
    return MapWriter(sources_, path_ + path, indent_ + step);
  }
  void line(std::string_view key, const std::string& value);
  void line_of_constant(std::string_view key, const std::string& value);
  /// A profile, as `name` or as `{base: name, ...}`.
  void named(std::string_view key, const std::string& name, const std::string& changes);
  void nest(std::string_view key, const MapWriter& io);
  /// A map two steps further in, as an item of this list; in a profile on one line where it is
  /// short.
  void item(const MapWriter& io);

  Sources* sources_;
  std::string path_;
  int indent_;
  std::string text_;
  std::vector<std::string> entries_;  ///< "key: value", while there are no others
  bool is_flat_ = true;
};

}  // namespace stepsim
