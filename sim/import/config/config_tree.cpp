// YAML's scalars have no types of their own: what looks like a switch or a number is one, by the
// core schema (YAML 1.2.2, section 10.3.2); "1e-5" without a point is a number too.
#include "sim/import/config/config_tree.hpp"

#include <cctype>
#include <charconv>
#include <set>
#include <string>

#include <fmt/format.h>

#include "sim/scenario/read/tree.hpp"

namespace stepsim {
namespace {

JsonTree::Kind kind_of(const std::string& text) {
  static const std::set<std::string, std::less<>> kFlags{"true",  "True",  "TRUE",
                                                         "false", "False", "FALSE"};
  if (kFlags.contains(text)) return JsonTree::Kind::flag;
  double number = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, number);
  const bool begins_so = begin != end && (*begin == '-' || *begin == '.' ||
                                          std::isdigit(static_cast<unsigned char>(*begin)) != 0);
  return begins_so && error == std::errc{} && rest == end ? JsonTree::Kind::number
                                                          : JsonTree::Kind::text;
}

JsonTree json_of(const Tree& tree, Problems& problems) {
  JsonTree json{.text = tree.scalar, .place = tree.place};
  switch (tree.kind) {
    case Tree::Kind::empty:
      break;
    case Tree::Kind::scalar:
      json.kind = kind_of(tree.scalar);
      break;
    case Tree::Kind::list:
      json.kind = JsonTree::Kind::list;
      for (const Tree& item : tree.items) json.items.push_back(json_of(item, problems));
      break;
    case Tree::Kind::map:
      json.kind = JsonTree::Kind::map;
      for (const Entry& entry : tree.entries) {
        if (json.find(entry.key) != nullptr)
          problems.add(entry.key_place, entry.key,
                       fmt::format("{} is there twice", quoted(entry.key)));
        json.members.push_back({entry.key, entry.key_place, json_of(entry.value, problems)});
      }
      break;
  }
  return json;
}

/// The first character that is neither white nor in a comment.
char first_of_text(const std::string& text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  while (at != std::string::npos && text[at] == '#') {
    at = text.find('\n', at);
    if (at != std::string::npos) at = text.find_first_not_of(" \t\r\n", at);
  }
  return at == std::string::npos ? '\0' : text[at];
}

}  // namespace

std::optional<JsonTree> config_tree(const std::shared_ptr<const Source>& source,
                                    Problems& problems) {
  const char first = first_of_text(source->text);
  if (source->name.ends_with(".json") || first == '{') return parse_json(source, problems);
  if (source->name.ends_with(".toml") || first == '[') return parse_toml(source, problems);
  const std::optional<Tree> tree = parse_tree(source, "", problems);
  return tree ? std::optional(json_of(*tree, problems)) : std::nullopt;
}

}  // namespace stepsim
