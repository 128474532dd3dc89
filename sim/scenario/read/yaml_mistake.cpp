// Looks at the text around the place where yaml-cpp stopped.
#include "sim/scenario/read/yaml_mistake.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace stepsim {
namespace {

/// Whether the line, from `at` on, is a key and is not indented more than `indentation`.
bool is_key_of(const std::string& text, std::size_t at, std::size_t indentation) {
  const std::size_t word = std::min(text.find_first_not_of(' ', at), text.size());
  std::size_t end = word;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                               text[end] == '_' || text[end] == '-'))
    ++end;
  const bool is_key =
      end > word && end < text.size() && text[end] == ':' &&
      (end + 1 == text.size() || std::isspace(static_cast<unsigned char>(text[end + 1])) != 0);
  return is_key && word - at <= indentation;
}

/// The quote that ends what the one at `open` begins; npos when there is none.
std::size_t closing_quote(const std::string& text, std::size_t open) {
  for (std::size_t at = open + 1; at < text.size(); ++at) {
    if (text[open] == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == text[open]) {
      const bool is_doubled =
          text[open] == '\'' && at + 1 < text.size() && text[at + 1] == text[open];
      if (!is_doubled) return at;
      ++at;
    }
  }
  return std::string::npos;
}

/// Whether a quote was forgotten: what begins at `open` goes to the end of the file, or over keys
/// beside the one that it is the value of.
bool is_left_open(const std::string& text, std::size_t open, std::size_t close) {
  if (close == std::string::npos) return true;
  const std::string_view within(text.data() + open, close - open);
  std::size_t end = within.find('\n');
  if (end == std::string_view::npos) return false;  // at once: a line may have any number of quotes
  const std::size_t start = open == 0 ? 0 : text.rfind('\n', open - 1) + 1;  // npos + 1 is 0
  const std::size_t indentation = text.find_first_not_of(' ', start) - start;
  for (; end != std::string_view::npos; end = within.find('\n', end + 1)) {
    if (is_key_of(text, open + end + 1, indentation)) return true;
  }
  return false;
}

/// The first quote of a text that is no YAML that was left open, as far as that can be told; npos
/// when there is none.
std::size_t quote_left_open(const std::string& text) {
  bool begins_value = true;  // what stands here would
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '#' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n')) {
      at = std::min(text.find('\n', at), text.size());
      begins_value = true;
    } else if ((c == '"' || c == '\'') && begins_value) {
      const std::size_t close = closing_quote(text, at);
      if (is_left_open(text, at, close)) return at;
      at = close;
      begins_value = false;
    } else if (c != ' ') {
      begins_value = c == '\n' || c == ':' || c == '-' || c == '[' || c == '{' || c == ',';
    }
  }
  return std::string::npos;
}

/// What yaml-cpp's messages mean to somebody who writes a scenario.
constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
    {"end of map flow not found", "a '{' is not closed up to here"},
    {"end of sequence flow not found", "a '[' is not closed up to here"},
    {"end of map not found", "this line is indented unlike the keys above it"},
    {"end of sequence not found", "this line is indented unlike the list above it"},
    {"illegal map value", "a ':' where no key can be"},
    {"unexpected character in block scalar", "'>' and '|' begin a folded text"},
};

std::string meaning_of(const std::string& message) {
  for (const auto& [theirs, ours] : kMeanings) {
    if (message == theirs) return std::string(ours);
  }
  return message;
}

/// Whether a value would begin at this offset of a line.
bool begins_value(const std::string& line, std::size_t at) {
  const std::size_t before = at == 0 ? std::string::npos : line.find_last_not_of(' ', at - 1);
  return before != std::string::npos &&
         std::string_view(":,[{-").find(line[before]) != std::string_view::npos;
}

/// Where the value begins whose quotes close before `rest`, the offset that yaml-cpp was stopped
/// at: 7 of `label: "a" // gpus`. npos when there is none.
std::size_t quoted_before(const std::string& line, std::size_t rest) {
  for (std::size_t at = 0; at < rest; ++at) {
    if ((line[at] != '"' && line[at] != '\'') || !begins_value(line, at)) continue;
    const std::size_t close = closing_quote(line, at);
    if (close >= rest) break;
    if (line.find_first_not_of(' ', close + 1) == rest) return at;
    at = close;
  }
  return std::string::npos;
}

/// The text behind a quote that closed, with quotes around all of the value where its end is sure.
std::optional<Refusal> text_behind_quote(const Place& place) {
  const std::string line = place.source->line(place.line);
  const auto rest = static_cast<std::size_t>(std::max(place.column, 1) - 1);
  const std::size_t open = rest < line.size() ? quoted_before(line, rest) : std::string::npos;
  if (open == std::string::npos) return std::nullopt;
  const std::string value = line.substr(open, line.find_last_not_of(' ') + 1 - open);
  const bool is_sure =
      line.find_first_of("[{") > open && value.find_first_of("'#") == std::string::npos;
  return Refusal{place, "text goes on behind the quotes of a value",
                 is_sure ? fmt::format("write quotes around all of it: '{}'", value)
                         : "write single quotes around all of the value"};
}

/// What to do about a syntax error, when the line shows it.
std::string proposal_for(const std::string& line) {
  const std::size_t colon = line.find(": >");
  if (colon != std::string::npos) {
    return fmt::format("write quotes around it: \"{}\"", line.substr(colon + 2));
  }
  if (line.find(" ? ") < line.find(" : ")) return "write quotes around the value: '...'";
  if (line.find('\t') < line.find_first_not_of(" \t")) return "indent with spaces, not with tabs";
  return "";
}

}  // namespace

bool is_left_open(const std::string& text, std::size_t at) {
  const bool is_quoted = at < text.size() && (text[at] == '"' || text[at] == '\'');
  return is_quoted && is_left_open(text, at, closing_quote(text, at));
}

Refusal yaml_mistake(const std::shared_ptr<const Source>& source, const Place& place,
                     const std::string& message) {
  const std::size_t open = quote_left_open(source->text);
  if (open != std::string::npos) return {place_at(source, open), kLeftOpen, ""};
  const bool json = source->name.ends_with(".json");
  if (const auto behind = text_behind_quote(place); behind && !json) return *behind;
  return {place, (json ? "this is not JSON: " : "this is not YAML: ") + meaning_of(message),
          proposal_for(source->line(place.line))};
}

}  // namespace stepsim
