// "Did you mean ...?": the known word that is nearest to a mistyped one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

/// The edits (insert, delete, replace, swap neighbours) between two words; case and -_ do not
/// count.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the fewest edits, where they are at most a third of the word's letters (and
/// at least one is allowed); else one that the word begins with, or ends, apart by a hyphen.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "did you mean 'x'?" when a candidate is near, else "".
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b or c", from the words a, b and c.
std::string one_of(const std::vector<std::string>& words);

/// "did you mean 'x'?" when a candidate is near, else "known: a, b, c" when they are few, else "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace stepsim
