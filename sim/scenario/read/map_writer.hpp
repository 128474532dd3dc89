// Writes a struct as YAML text with every key, so that it reads back as an equal struct.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/read/flow_list.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

class MapWriter {
 public:
  explicit MapWriter(int indent = 0) : indent_(indent) {}
  const std::string& text() const { return text_; }

  bool is_profile() const { return false; }
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
  void one_or_more(std::string_view key, std::vector<T>& values, const Rules& rules,
                   std::string_view doc) {
    if (values.size() == 1) {
      line(key, write_scalar(values.front()));
    } else {
      field(key, values, rules, doc);
    }
  }
  template <class T>
  void constant(std::string_view key, T& value, const Rules& rules, std::string_view doc) {
    field(key, value, rules, doc);
  }

  template <class T>
  void section(std::string_view key, T& value, std::string_view) {
    MapWriter io(indent_ + kStep);
    describe(io, value);
    nest(key, io);
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
    MapWriter io(indent_ + kStep);
    write(io);
    nest(key, io);
  }

  void part(std::string_view key, Model& model, std::string_view doc) { section(key, model, doc); }
  void part(std::string_view key, Cluster& cluster, std::string_view doc) {
    section(key, cluster, doc);
  }
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
    MapWriter items(indent_ + kStep);
    for (T& value : values) {
      MapWriter io(indent_ + 2 * kStep);
      describe(io, value);
      items.item(io);
    }
    nest(key, items);
  }

  // Parts of profiles, which are never written.
  void sources(std::string_view) {}
  void source(std::string_view) {}
  void note(std::string_view, std::string_view) {}

 private:
  static constexpr int kStep = 2;
  void line(std::string_view key, const std::string& value);
  /// A profile, as `name` or as `{base: name, ...}`.
  void named(std::string_view key, const std::string& name, const std::string& changes);
  void nest(std::string_view key, const MapWriter& io);
  /// A map one step further in, as an item of this list.
  void item(const MapWriter& io);

  int indent_;
  std::string text_;
};

}  // namespace stepsim
