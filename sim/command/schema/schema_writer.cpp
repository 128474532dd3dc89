// Schemas of maps, and of the parts of a scenario that may stand in files of their own.
#include "sim/command/schema/schema_writer.hpp"

#include <algorithm>

#include "sim/scenario/describe/describe.hpp"
#include "sim/scenario/describe/describe_suite.hpp"
#include "sim/scenario/read/expectation.hpp"

namespace stepsim {
namespace {

template <class T>
SchemaWriter described(T value, bool is_profile = false) {
  SchemaWriter io(is_profile);
  describe(io, value);
  return io;
}

Json name_or(const Json& map) { return any_of({Json{{"type", "string"}}, map}); }

}  // namespace

Json scenario_schema() { return described(Scenario{}).object(); }

Json with_base(Json map) {
  map["properties"]["base"] = {{"type", "string"},
                               {"description", "a name or a path of another one"}};
  map["if"] = {{"required", {"base"}}};
  map["else"] = {{"required", map.contains("required") ? map["required"] : Json::array()}};
  map.erase("required");
  return map;
}

void SchemaWriter::add(std::string_view key, Json schema, const Rules& rules,
                       std::string_view doc) {
  if (!doc.empty()) schema["description"] = doc;
  properties_[std::string(key)] = std::move(schema);
  if (rules.is_required) required_.emplace_back(key);
}

Json SchemaWriter::object(bool may_have_base) const {
  Json map{{"type", "object"}, {"properties", properties_}, {"additionalProperties", false}};
  if (!may_have_base && !required_.empty()) map["required"] = required_;
  return map;
}

void SchemaWriter::add_other_forms(const GemmProfile&) {
  const Json smooth = described(GemmProfile{.form = SmoothGemm{}}, is_profile_).properties_;
  for (const auto& [key, schema] : smooth.items())
    if (!properties_.contains(key)) properties_[key] = schema;
}

void SchemaWriter::group(std::string_view key, std::string_view doc,
                         const std::function<void(SchemaWriter&)>& write) {
  SchemaWriter io(is_profile_);
  write(io);
  add(key, or_nothing(io.object()), any, doc);
}

void SchemaWriter::part(std::string_view key, Model&, std::string_view doc) {
  add(key, name_or(with_base(model_schema())), required(), doc);
}

void SchemaWriter::part(std::string_view key, Cluster& cluster, std::string_view doc) {
  add(key, name_or(with_base(described(cluster).object())), required(), doc);
}

void SchemaWriter::part(std::string_view key, GpuProfile& gpu, std::string_view doc) {
  // What a scenario changes of a profile needs no source.
  add(key, name_or(with_base(described(gpu).object(true))), required(), doc);
}

void SchemaWriter::part(std::string_view key, LinkProfile& link, std::string_view doc) {
  add(key, or_nothing(name_or(with_base(described(link).object()))), any, doc);
}

void SchemaWriter::expectations(std::string_view key, std::vector<Expectation>&,
                                std::string_view doc) {
  SchemaWriter io;
  const Json one{{"type", {"string", "number", "boolean"}}};
  for (const std::string& name : expectation_keys())
    io.add(name, any_of({one, list_of(one, 0)}), any, expectation_meaning(name));
  add(key, or_nothing(io.object()), any, doc);
}

void SchemaWriter::sources(std::string_view doc) {
  add("sources",
      Json{{"type", "object"}, {"additionalProperties", {{"type", {"string", "number"}}}}},
      required(), doc);
}

Json model_schema() {
  Json whole;
  for (const SchemaWriter& io :
       {described(Model{.shape = Transformer{}}), described(Model{.shape = Mlp{}}),
        described(Model{.shape = ResNet{}}), described(Model{.shape = Dlrm{}})}) {
    for (const auto& [key, schema] : io.properties().items()) {
      Json& known = whole["properties"][key];
      if (known.is_null()) {
        known = schema;
      } else if (known != schema) {
        known = any_of({known, schema});
      }
    }
  }
  whole["type"] = "object";
  whole["additionalProperties"] = false;
  return whole;
}

}  // namespace stepsim
