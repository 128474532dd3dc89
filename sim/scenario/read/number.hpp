// Numbers as people write them: `1e9`, `25_000`, `010` (ten); never octal or hexadecimal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stepsim {

/// Why a text is not the value that is wanted; thrown by the readers of single values.
struct Mistake {
  std::string message;   ///< "'900' has no unit"
  std::string proposal;  ///< "write \"900 GB/s\""; may be empty
};

/// A number at the start of a text, and what follows it without the space between.
struct LeadingNumber {
  double value = 0;
  std::string number;  ///< as written; underscores and a plus sign left out
  std::string rest;
};

/// "bandwidth" from "a bandwidth".
std::string_view without_article(std::string_view title);

/// Nothing when the text does not start with a number; throws Mistake when no double can hold it.
std::optional<LeadingNumber> leading_number(const std::string& text);
/// As leading_number, for readers with a message of their own: nothing when no double can hold it.
std::optional<LeadingNumber> number_if_any(const std::string& text);

/// Tokens as people count them: "300e9", "300B", "2 T", "2T tokens"; nothing for anything else.
std::optional<double> token_count(const std::string& text);

/// Throws the Mistake "'text' is not <wanted>"; infinities and NaN are called by their name.
[[noreturn]] void refuse(const std::string& text, std::string_view wanted,
                         std::string proposal = "");

}  // namespace stepsim
