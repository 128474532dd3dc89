// Computes the edit distance behind "did you mean".
#include "sim/core/suggest.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepsim {
namespace {

// A longer word is no typing error; the bound keeps the cost small.
constexpr std::size_t kLongestWord = 64;
// a name that begins with so many letters of the word does so by no accident
constexpr std::size_t kLeastBeginning = 4;
constexpr std::size_t kLongestList = 16;  // choices that a proposal still lists in full

char folded(char c) {
  return c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

/// The shortest candidate that begins with `word` and goes on with a part of its own, as
/// `resnext101-32x8d` does with `resnext101`: a word of some length is more often unfinished than
/// misspelt.
std::optional<std::string> begun(std::string_view word,
                                 const std::vector<std::string>& candidates) {
  const auto begins = [&](const std::string& candidate) {
    return candidate.size() > word.size() && word.size() >= kLeastBeginning &&
           (candidate[word.size()] == '-' || candidate[word.size()] == '_') &&
           std::equal(word.begin(), word.end(), candidate.begin(),
                      [](char a, char b) { return folded(a) == folded(b); });
  };
  std::optional<std::string> best;
  for (const std::string& candidate : candidates)
    if (begins(candidate) && (!best || candidate.size() < best->size())) best = candidate;
  return best;
}

bool is_end_of(std::string_view part, std::string_view whole) {
  if (part.size() >= whole.size()) return false;
  const std::size_t before = whole.size() - part.size();
  return folded(whole[before - 1]) == '-' &&
         std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(before),
                    [](char a, char b) { return folded(a) == folded(b); });
}

/// A candidate that the word begins with, as `deepspeed-zero3` with `deepspeed`, or that ends with
/// the word, as `pytorch-fsdp2` with `fsdp2`; the longest of the first, the shortest of the others.
std::optional<std::string> in_parts(std::string_view word,
                                    const std::vector<std::string>& candidates) {
  std::optional<std::string> begun_with, ended_with;
  for (const std::string& candidate : candidates) {
    const bool longer = !begun_with || candidate.size() > begun_with->size();
    if (longer && begun(candidate, {std::string(word)})) begun_with = candidate;
    const bool shorter = !ended_with || candidate.size() < ended_with->size();
    if (shorter && is_end_of(word, candidate)) ended_with = candidate;
  }
  return begun_with ? begun_with : ended_with;
}

}  // namespace

// Optimal string alignment keeps three rows of the usual table, the third for swapped neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = folded(a[i - 1]) == folded(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                           folded(a[i - 2]) == folded(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  if (auto whole = begun(word, candidates)) return whole;
  std::optional<std::string> best;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t edits = edit_distance(word, candidate);
    if (edits >= fewest || edits >= candidate.size()) continue;
    fewest = edits;
    best = candidate;
  }
  return best ? best : in_parts(word, candidates);
}

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
  const auto near = nearest(word, candidates);
  return near ? fmt::format("did you mean '{}'?", *near) : "";
}

std::string one_of(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  std::string near = closest(word, candidates);
  if (!near.empty() || candidates.empty() || candidates.size() > kLongestList) return near;
  return fmt::format("known: {}", fmt::join(candidates, ", "));
}

}  // namespace stepsim
