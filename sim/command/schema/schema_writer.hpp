// Collects a JSON schema (draft 7) of a map, from the readers' own declarations
// (sim/scenario/describe/describe.hpp).
//
// The schema says of each key what the reader does as far as one value alone tells: its type, unit,
// words and range. Which keys go together is `check`'s.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/command/schema/value_schema.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/suite/suite.hpp"

namespace stepsim {

class SchemaWriter {
 public:
  explicit SchemaWriter(bool is_profile = false) : is_profile_(is_profile) {}

  /// `may_have_base`: keys may come from a file that `base` names, so that none is required.
  Json object(bool may_have_base = false) const;
  const Json& properties() const { return properties_; }

  bool is_profile() const { return is_profile_; }
  bool stated(std::string_view) const { return false; }
  void adopt(std::optional<Framework>) {}
  std::optional<Framework> framework() const { return std::nullopt; }
  template <class T>
  void fallback(T&, const T&, std::string_view) {}

  template <class T>
  void field(std::string_view key, T& value, const Rules& rules, std::string_view doc) {
    add(key, value_schema(value, rules), rules, doc);
  }
  template <class T>
  void field(std::string_view key, std::optional<T>&, const Rules& rules, std::string_view doc) {
    add(key, value_schema(T{}, rules), rules, doc);
  }
  template <class T>
  void field(std::string_view key, std::vector<T>&, const Rules& rules, std::string_view doc) {
    add(key, list_of(value_schema(T{}, rules), rules.length), rules, doc);
  }
  template <class T>
  void one_or_more(std::string_view key, std::vector<T>&, const Rules& rules,
                   std::string_view doc) {
    const Json one = value_schema(T{}, rules);
    add(key, any_of({one, list_of(one, 0)}), rules, doc);
  }
  template <class T>
  void constant(std::string_view key, T& value, const Rules& rules, std::string_view doc) {
    if (!is_profile_) return field(key, value, rules, doc);
    SchemaWriter io(true);
    io.field("value", value, required(rules), doc);
    io.source(doc);
    add(key, io.object(), rules, doc);
  }

  template <class T>
  void section(std::string_view key, T& value, std::string_view doc) {
    add(key, or_nothing(below(value).object()), any, doc);
  }
  template <class T>
  void section(std::string_view key, std::string_view word, T& value, std::string_view doc) {
    const SchemaWriter io = below(value);
    add(key, or_nothing(any_of({io.properties_.at(std::string(word)), io.object()})), any, doc);
  }
  template <class T>
  void section(std::string_view key, std::optional<T>&, T preset, std::string_view doc) {
    section(key, preset, doc);
  }
  void group(std::string_view key, std::string_view doc,
             const std::function<void(SchemaWriter&)>& write);
  template <class T>
  void list(std::string_view key, std::vector<T>&, std::string_view doc) {
    T value{};
    add(key, list_of(below(value).object(), 0), any, doc);
  }
  template <class T, class E>
  void variants(std::string_view key, std::vector<T>&, E T::*choice, std::string_view,
                std::string_view doc) {
    T value{};
    SchemaWriter io = below(value);
    io.add_other_forms(value);
    io.add("like", value_schema(value.*choice, any), any, "another one that it begins as");
    Json map{{"type", "object"},
             {"propertyNames", value_schema(value.*choice, any)},
             {"additionalProperties", io.object(true)}};
    add(key, map, required(), doc);
  }

  void part(std::string_view key, Model&, std::string_view doc);
  void part(std::string_view key, Cluster& cluster, std::string_view doc);
  void part(std::string_view key, GpuProfile& gpu, std::string_view doc);
  void part(std::string_view key, LinkProfile& link, std::string_view doc);
  void expectations(std::string_view key, std::vector<Expectation>&, std::string_view doc);
  void sources(std::string_view doc);
  void source(std::string_view doc) { add("source", Json{{"type", "string"}}, required(), doc); }
  void note(std::string_view key, std::string_view doc) { add(key, Json::object(), any, doc); }
  void verbatim(std::string_view key, Tree&, const Rules& rules, std::string_view doc) {
    add(key, Json{{"type", {"object", "array", "string"}}}, rules, doc);
  }
  void phrase(std::string_view key, Phrase&, const Rules& rules, std::string_view doc) {
    add(key, phrase_schema(), rules, doc);
  }
  void phrases(std::string_view key, std::vector<NamedPhrase>&, std::string_view doc) {
    add(key, or_nothing(Json{{"type", "object"}, {"additionalProperties", phrase_schema()}}), any,
        doc);
  }

 private:
  template <class T>
  SchemaWriter below(T& value) const {
    SchemaWriter io(is_profile_);
    describe(io, value);
    return io;
  }
  void add(std::string_view key, Json schema, const Rules& rules, std::string_view doc);
  /// The keys that a map has where one of them says so.
  template <class T>
  void add_other_forms(const T&) {}
  void add_other_forms(const GemmProfile&);

  bool is_profile_;
  Json properties_ = Json::object();
  std::vector<std::string> required_;
};

/// The map with the key `base`, whose file has all that is not said.
Json with_base(Json map);

Json scenario_schema();

/// A model of any kind: the keys of all, where one key has several types any of them.
Json model_schema();

}  // namespace stepsim
