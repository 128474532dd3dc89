// Splitting a number from what follows it.
#include "sim/scenario/read/number.hpp"

#include <charconv>

#include <fmt/format.h>

#include "sim/core/source.hpp"
#include "sim/core/words.hpp"

namespace stepsim {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_blanks(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\n");
  if (from == std::string_view::npos) return "";
  return text.substr(from, text.find_last_not_of(" \t\n") + 1 - from);
}

/// Length of the longest `[+-]digits[.digits][e[+-]digits]` at the front; underscores only between
/// digits.
std::size_t number_length(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() &&
           (is_digit(text[at]) ||
            (text[at] == '_' && at > from && at + 1 < text.size() && is_digit(text[at + 1])))) {
      ++at;
    }
    return at - from;
  };
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  std::size_t seen = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    seen += digits();
  }
  if (seen == 0) return 0;
  const std::size_t mantissa = at;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) at = mantissa;
  }
  return at;
}

bool is_non_finite(const std::string& text) {
  std::string word = in_lower_case(std::string(without_blanks(text)));
  if (!word.empty() && (word.front() == '-' || word.front() == '+')) word.erase(0, 1);
  if (!word.empty() && word.front() == '.') word.erase(0, 1);
  return word == "inf" || word == "nan" || word == "infinity";
}

}  // namespace

std::string_view without_article(std::string_view title) {
  for (const std::string_view article : {"an ", "a "}) {
    if (title.starts_with(article)) return title.substr(article.size());
  }
  return title;
}

std::optional<LeadingNumber> leading_number(const std::string& text) {
  const std::string_view body = without_blanks(text);
  const std::size_t length = number_length(body);
  if (length == 0) return std::nullopt;
  LeadingNumber result;
  for (const char c : body.substr(0, length)) {
    if (c != '_' && !(c == '+' && result.number.empty())) result.number += c;
  }
  const char* from = result.number.data();
  const auto parsed = std::from_chars(from, from + result.number.size(), result.value);
  if (parsed.ec == std::errc::result_out_of_range) {
    throw Mistake{quoted(text) + " is too large or too small for a number", ""};
  }
  result.rest = without_blanks(body.substr(length));
  return result;
}

std::optional<LeadingNumber> number_if_any(const std::string& text) {
  try {
    return leading_number(text);
  } catch (const Mistake&) {
    return std::nullopt;
  }
}

std::optional<double> token_count(const std::string& text) {
  const auto leading = number_if_any(text);
  if (!leading) return std::nullopt;
  std::string rest = leading->rest;
  for (const std::string_view word : {"tokens", "token"}) {
    if (rest.ends_with(word)) {
      rest = without_blanks(std::string_view(rest).substr(0, rest.size() - word.size()));
      break;
    }
  }
  if (rest.empty()) return leading->value;
  constexpr std::pair<std::string_view, double> kCounts[] = {
      {"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"G", 1e9}, {"T", 1e12}};
  for (const auto& [letter, factor] : kCounts)
    if (rest == letter || rest == in_lower_case(std::string(letter)))
      return leading->value * factor;
  return std::nullopt;
}

void refuse(const std::string& text, std::string_view wanted, std::string proposal) {
  if (is_non_finite(text)) throw Mistake{quoted(text) + " is not a finite number", ""};
  throw Mistake{fmt::format("{} is not {}", quoted(text), wanted), std::move(proposal)};
}

}  // namespace stepsim
