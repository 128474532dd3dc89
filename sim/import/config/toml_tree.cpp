// Reads TOML by toml++; members come in the order of the text.
#include <algorithm>
#include <sstream>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "sim/import/config/config_tree.hpp"
#ifndef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 0
#endif
#include <toml++/toml.h>

namespace stepsim {
namespace {

class TomlReader {
 public:
  explicit TomlReader(const std::shared_ptr<const Source>& source) : source_(source) {}

  JsonTree tree(const toml::node& node) const {
    JsonTree tree{.place = place(node.source())};
    if (const toml::table* table = node.as_table()) {
      tree.kind = JsonTree::Kind::map;
      for (const auto& [key, value] : *table)
        tree.members.push_back({std::string(key.str()), place(key.source()), this->tree(value)});
      std::ranges::stable_sort(tree.members, [](const auto& a, const auto& b) {
        return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
      });
    } else if (const toml::array* array = node.as_array()) {
      tree.kind = JsonTree::Kind::list;
      for (const toml::node& item : *array) tree.items.push_back(this->tree(item));
    } else {
      read_scalar(node, tree);
    }
    return tree;
  }

 private:
  Place place(const toml::source_region& region) const {
    return {source_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }

  static void read_scalar(const toml::node& node, JsonTree& tree) {
    if (const auto* flag = node.as_boolean()) {
      tree.kind = JsonTree::Kind::flag;
      tree.text = flag->get() ? "true" : "false";
    } else if (const auto* integer = node.as_integer()) {
      tree.kind = JsonTree::Kind::number;
      tree.text = fmt::format("{}", integer->get());
    } else if (const auto* number = node.as_floating_point()) {
      tree.kind = JsonTree::Kind::number;
      tree.text = fmt::format("{}", number->get());
    } else if (const auto* text = node.as_string()) {
      tree.kind = JsonTree::Kind::text;
      tree.text = text->get();
    } else {
      // Dates and times of day, as they are written.
      tree.kind = JsonTree::Kind::text;
      std::ostringstream written;
      node.visit([&](const auto& value) {
        if constexpr (toml::is_date<decltype(value)> || toml::is_time<decltype(value)> ||
                      toml::is_date_time<decltype(value)>)
          written << value.get();
      });
      tree.text = written.str();
    }
  }

  const std::shared_ptr<const Source>& source_;
};

}  // namespace

std::optional<JsonTree> parse_toml(const std::shared_ptr<const Source>& source,
                                   Problems& problems) {
  try {
    return TomlReader(source).tree(toml::parse(source->text, source->name));
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    problems.add({source, static_cast<int>(at.line), static_cast<int>(at.column)}, "",
                 fmt::format("this is no TOML: {}", error.description()));
  }
  return std::nullopt;
}

}  // namespace stepsim
