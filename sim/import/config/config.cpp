// Reads values of a configuration with what they have to be, and remembers which were asked for.
#include "sim/import/config/config.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/core/suggest.hpp"
#include "sim/core/words.hpp"
#include "sim/import/config/config_tree.hpp"

namespace stepsim {
namespace {

using Kind = JsonTree::Kind;

/// Whether a value changes nothing.
bool is_default(const UnsaidKey& key, const JsonTree& value) {
  if (const JsonTree* device = value.find("device"))
    if (is_text(*device, "none") || device->is(Kind::null)) return true;
  if (const JsonTree* enabled = value.find("enabled"))
    if (switch_of(*enabled) == false) return true;
  if (!key.preset.empty()) {
    if (value.text == key.preset) return true;
    double preset = 0;
    const char* end = key.preset.data() + key.preset.size();
    const bool is_number = std::from_chars(key.preset.data(), end, preset).ptr == end;
    return is_number && value.is(Kind::number) && number_of(value) == preset;
  }
  static const std::set<std::string, std::less<>> kNothing{"", "no", "none", "None", "disabled"};
  if (value.is(Kind::number)) return number_of(value) == 0;
  if (value.is(Kind::list)) return value.items.empty();
  if (value.is(Kind::map)) return value.members.empty();
  return switch_of(value) == false || kNothing.contains(value.text);
}

std::string parent_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

}  // namespace

std::set<std::string, std::less<>> paths_of(std::initializer_list<SectionKeys> sections) {
  std::set<std::string, std::less<>> paths;
  for (const auto& [section, keys] : sections)
    for (const std::string_view key : words_of(keys))
      paths.insert(fmt::format("{}{}{}", section, section.empty() ? "" : ".", key));
  return paths;
}

std::string json_text(const JsonTree& value) {
  std::string text = quoted(value.text);
  switch (value.kind) {
    case Kind::text:
      text.front() = text.back() = '"';
      return text;
    case Kind::list:
      return "[...]";
    case Kind::map:
      return "{...}";
    default:
      return text.substr(1, text.size() - 2);
  }
}

bool is_text(const JsonTree& value, std::string_view text) {
  return value.is(Kind::text) && value.text == text;
}

std::optional<bool> switch_of(const JsonTree& value) {
  if (!value.is(Kind::flag) && !value.is(Kind::text)) return std::nullopt;
  const std::string word = in_lower_case(value.text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return std::nullopt;
}

double number_of(const JsonTree& value) {
  double number = 0;
  if (value.is(Kind::number))
    std::from_chars(value.text.data(), value.text.data() + value.text.size(), number);
  return number;
}

Config::Config(const std::string& path, std::string kind, std::string placeholder)
    : Config(read_source(path), std::move(kind), std::move(placeholder)) {}

Config::Config(const std::shared_ptr<const Source>& source, std::string kind,
               std::string placeholder)
    : placeholder_(std::move(placeholder)) {
  if (source->text.size() > kLargestFile)
    problems_.add({source, 0, 0}, "",
                  fmt::format("the file is larger than {} MiB: this is no{}", kLargestFile >> 20,
                              kind.substr(kind.find(' '))));
  problems_.throw_if_any();
  auto tree = config_tree(source, problems_);
  if (tree && !tree->is(Kind::map))
    problems_.add(
        {source, 1, 1}, "",
        fmt::format("{} is {}", kind, source->name.ends_with(".json") ? "an object" : "a map"));
  problems_.throw_if_any();
  tree_ = std::move(*tree);
}

Config::Config(JsonTree tree, std::string placeholder)
    : tree_(std::move(tree)), placeholder_(std::move(placeholder)) {}

/// What stands at the path, a placeholder or null, too; the path and all above it count as read.
const JsonTree* Config::written(std::string_view path) {
  const JsonTree* value = &tree_;
  for (std::size_t at = 0; value != nullptr && at <= path.size();) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    read_.emplace(path.substr(0, dot));
    value = value->find(std::string(path.substr(at, dot - at)));
    at = dot + 1;
  }
  read_.emplace(path);
  return value;
}

const JsonTree* Config::find(std::string_view path) {
  const JsonTree* value = written(path);
  const bool is_absent = value == nullptr || value->is(Kind::null) ||
                         (!placeholder_.empty() && is_text(*value, placeholder_));
  return is_absent ? nullptr : value;
}

std::string Config::first_of(std::initializer_list<std::string_view> paths) {
  std::string first;
  for (const std::string_view path : paths)
    if (find(path) != nullptr && first.empty()) first = path;
  return first;
}

bool Config::is_placeholder(std::string_view path) {
  const JsonTree* value = written(path);
  return value != nullptr && !placeholder_.empty() && is_text(*value, placeholder_);
}

std::int64_t Config::count(std::string_view path, std::int64_t least) {
  const JsonTree* value = find(path);
  if (value == nullptr) return 0;
  const double number = number_of(*value);
  if (!value->is(Kind::number)) {
    refuse(path, *value, "a number");
  } else if (!(number >= static_cast<double>(least) && number <= 1e12) ||
             number != static_cast<double>(static_cast<std::int64_t>(number))) {
    refuse(path, *value, fmt::format("a whole number from {} to 1e12", least));
  } else {
    return static_cast<std::int64_t>(number);
  }
  return 0;
}

std::int64_t Config::positive(std::string_view path, std::int64_t preset) {
  const std::int64_t stated = count(path, 1);
  return stated > 0 ? stated : preset;
}

std::optional<double> Config::number(std::string_view path) {
  const JsonTree* value = find(path);
  if (value == nullptr) return std::nullopt;
  if (!value->is(Kind::number)) refuse(path, *value, "a number");
  return number_of(*value);
}

bool Config::is_on(std::string_view path, bool preset) {
  const JsonTree* value = find(path);
  if (value == nullptr) return preset;
  const std::optional<bool> on = switch_of(*value);
  if (!on) refuse(path, *value, "true or false");
  return on.value_or(preset);
}

std::string Config::text(std::string_view path, const std::string& preset) {
  const JsonTree* value = find(path);
  if (value == nullptr) return preset;
  if (value->is(Kind::map) || value->is(Kind::list)) {
    refuse(path, *value, "a text");
    return preset;
  }
  return value->text;
}

std::string Config::choice(std::string_view path, const std::vector<std::string>& words,
                           const std::string& preset, Case letters) {
  if (!has(path)) return preset;
  const std::string stated = text(path, preset);
  for (const std::string& word : words) {
    const bool is_alike = letters == Case::ignored && in_lower_case(word) == in_lower_case(stated);
    if (word == stated || is_alike) return word;
  }
  report(path, fmt::format("{}: {} is not {}", path, json_text(*find(path)), one_of(words)),
         closest(stated, words));
  return preset;
}

void Config::check_words(std::string_view path, const std::vector<std::string>& words) {
  for (const std::string& word : list(path))
    if (std::ranges::find(words, word) == words.end())
      report(path, fmt::format("{}: {} is not {}", path, quoted(word), one_of(words)),
             closest(word, words));
}

std::vector<std::string> Config::list(std::string_view path) {
  const JsonTree* value = find(path);
  if (value == nullptr) return {};
  if (value->is(Kind::map)) refuse(path, *value, "a list");
  if (!value->is(Kind::list)) return {value->text};
  std::vector<std::string> texts;
  for (const JsonTree& item : value->items) texts.push_back(item.text);
  return texts;
}

void Config::refuse(std::string_view path, const JsonTree& value, const std::string& wanted) {
  problems_.add(value.place, std::string(path),
                fmt::format("{}: {} is not {}", path, json_text(value), wanted));
}

void Config::report(std::string_view path, const std::string& message,
                    const std::string& proposal) {
  const JsonTree* value = find(path);
  problems_.add(value == nullptr ? tree_.place : value->place, std::string(path), message,
                proposal);
}

std::string Config::proposal(const std::string& path, const KnownKeys& known) const {
  const std::string parent = parent_of(path);
  std::vector<std::string> names;
  const auto add = [&](const std::string& other) {
    if (other != path && parent_of(other) == parent)
      names.push_back(other.substr(parent.empty() ? 0 : parent.size() + 1));
  };
  std::ranges::for_each(known.harmless, add);
  for (const auto& [other, key] : known.unsaid) add(other);
  std::ranges::for_each(read_, add);
  const std::string near = closest(path.substr(parent.empty() ? 0 : parent.size() + 1), names);
  return near.empty() ? "" : ", " + near;
}

bool Config::holds_known(const std::string& path, const KnownKeys& known) const {
  const std::string inside = path + ".";
  const auto has = [&](const auto& names) {
    const auto first = names.lower_bound(inside);
    if (first == names.end()) return false;
    if constexpr (requires { first->first; })
      return first->first.starts_with(inside);
    else
      return first->starts_with(inside);
  };
  return read_.contains(path) || has(read_) || has(known.harmless) || has(known.unsaid);
}

void Config::note_section(const std::string& prefix, const JsonTree& section,
                          const KnownKeys& known, Draft& draft, const std::string& shown_prefix) {
  for (const auto& [name, place, value] : section.members) {
    const std::string path = prefix + name;
    if (const auto unsaid = known.unsaid.find(path); unsaid != known.unsaid.end()) {
      const bool says_nothing = value.is(Kind::null) || is_text(value, placeholder_);
      if (!says_nothing && !is_default(unsaid->second, value))
        draft.note(shown_prefix + path, unsaid->second.why);
    } else if (known.harmless.contains(path)) {
      continue;
    } else if (value.is(Kind::map) && holds_known(path, known)) {
      note_section(path + ".", value, known, draft, shown_prefix);
    } else if (!read_.contains(path)) {
      const std::string near = proposal(path, known);
      if (!near.empty() || !known.has_many_more)
        draft.note(shown_prefix + path, "not known here" + near);
    }
  }
}

void Config::note_the_rest(const KnownKeys& known, Draft& draft, const std::string& shown_prefix) {
  note_section("", tree_, known, draft, shown_prefix);
}

bool has_line(const std::string& text, const std::string& beginning) {
  return text.starts_with(beginning) || text.find("\n" + beginning) != std::string::npos;
}

}  // namespace stepsim
