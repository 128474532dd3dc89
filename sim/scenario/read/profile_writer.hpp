// Writes a profile as a file of calib/: every constant with its source, so that it reads back as an
// equal profile.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario/gpu.hpp"
#include "sim/scenario/read/flow_list.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {

/// Where the constants of a profile come from.
struct ProfileSources {
  std::vector<std::pair<std::string, std::string>> texts;  ///< id and text, in the file's order
  /// Dotted path of a constant, or of what holds it ("gemm.bf16", "attention[0]"), to the id; the
  /// longest path holds, "" is for all others.
  std::map<std::string, std::string> of;
};

/// The file's text; `title` is its first line, as a comment. The sources that no constant has are
/// left out. REQUIRES: an id for each constant, and no path that no constant has.
std::string profile_yaml(const GpuProfile& profile, const std::string& title,
                         const ProfileSources& sources);
std::string profile_yaml(const LinkProfile& profile, const std::string& title,
                         const ProfileSources& sources);

class ProfileWriter {
 public:
  /// What was asked for so far.
  struct Used {
    std::set<std::string> ids, paths;
  };

  ProfileWriter(const ProfileSources& sources, Used& used, std::string path = "", int indent = 0)
      : sources_(sources), used_(used), path_(std::move(path)), indent_(indent) {}
  const std::string& text() const { return text_; }

  bool is_profile() const { return true; }
  bool stated(std::string_view) const { return false; }
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
  void constant(std::string_view key, T& value, const Rules&, std::string_view) {
    line(key, fmt::format("{{value: {}, source: {}}}", write_scalar(value),
                          source_of(path_ + std::string(key))));
  }
  template <class T>
  void section(std::string_view key, T& value, std::string_view) {
    ProfileWriter io = below(std::string(key) + ".", kStep);
    describe(io, value);
    nest(key, io);
  }
  template <class T>
  void section(std::string_view key, std::optional<T>& value, const T&, std::string_view doc) {
    if (value) section(key, *value, doc);
  }
  template <class T>
  void list(std::string_view key, std::vector<T>& values, std::string_view) {
    if (values.empty()) return;
    ProfileWriter items = below("", kStep);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ProfileWriter io = below(fmt::format("{}[{}].", key, i), 2 * kStep);
      describe(io, values[i]);
      items.item(io);
    }
    nest(key, items);
  }
  template <class T, class E>
  void variants(std::string_view key, std::vector<T>& values, E T::*choice, std::string_view,
                std::string_view) {
    ProfileWriter all = below("", kStep);
    for (T& value : values) {
      const std::string name = write_scalar(value.*choice);
      ProfileWriter io = below(fmt::format("{}.{}.", key, name), 2 * kStep);
      describe(io, value);
      all.nest(name, io);
    }
    nest(key, all);
  }

  void sources(std::string_view) { text_ += kSources; }
  void source(std::string_view) { line("source", source_of(path_)); }
  void note(std::string_view, std::string_view) {}

  /// Stands for the map of sources until it is known which are used.
  static constexpr const char* kSources = "\x01sources\n";

 private:
  static constexpr int kStep = 2;
  ProfileWriter below(const std::string& path, int step) const {
    return {sources_, used_, path_ + path, indent_ + step};
  }
  const std::string& source_of(const std::string& path);
  void line(std::string_view key, const std::string& value);
  void nest(std::string_view key, const ProfileWriter& io);
  /// A map two steps further in, as an item of this list; on one line where it is short.
  void item(const ProfileWriter& io);

  const ProfileSources& sources_;
  Used& used_;
  std::string path_;
  int indent_;
  std::string text_;
  std::vector<std::string> entries_;  ///< "key: value", while there are no others
  bool is_flat_ = true;
};

}  // namespace stepsim
