// Reads calib/kernels.yaml, and finds a name's first pattern.
#include "sim/recording/kernel_kinds.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/problems.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/words.hpp"
#include "sim/scenario/read/tree.hpp"

namespace stepsim {
namespace {

/// Names of templates take kilobytes; what a kernel is stands at the beginning.
constexpr std::size_t kLongestName = 2000;

std::string lower_case(std::string_view text) {
  return in_lower_case(std::string(text.substr(0, kLongestName)));
}

std::vector<std::string> parts_of(const std::string& pattern) {
  std::vector<std::string> parts;
  const std::string lower = lower_case(pattern);
  for (std::size_t from = 0; from <= lower.size();) {
    const std::size_t to = std::min(lower.find('*', from), lower.size());
    if (to > from) parts.push_back(lower.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

/// The text of a required key; empty where it is missing, which is reported.
std::string text_of(const Tree& row, const char* key, Problems& problems) {
  const Entry* entry = row.find(key);
  if (entry != nullptr && entry->value.kind == Tree::Kind::scalar && !entry->value.scalar.empty())
    return entry->value.scalar;
  problems.add(entry != nullptr ? entry->value.place : row.place, key,
               fmt::format("a pattern of kernels needs a text for {}", key));
  return "";
}

KernelPattern pattern_of(const Tree& row, Problems& problems) {
  KernelPattern pattern;
  if (!row.is_map()) {
    problems.add(row.place, "kernels", fmt::format("expected a map, not {}", title_of(row.kind)),
                 "write \"{kind: gemm, pattern: sgemm, example: volta_sgemm_64x64_nt}\"");
    return pattern;
  }
  pattern.text = text_of(row, "pattern", problems);
  pattern.example = text_of(row, "example", problems);
  pattern.parts = parts_of(pattern.text);
  const std::string word = text_of(row, "kind", problems);
  const auto& names = kNames<KernelKind>;
  const auto* const known =
      std::ranges::find(names, word, [](const auto& name) { return name.first; });
  if (known != names.end()) {
    pattern.kind = known->second;
  } else if (!word.empty()) {
    problems.add(row.find("kind")->value.place, "kind",
                 fmt::format("unknown kind {}", quoted(word)),
                 did_you_mean(word, names_of<KernelKind>()));
  }
  return pattern;
}

}  // namespace

bool matches(const KernelPattern& pattern, std::string_view lower_case_name) {
  std::size_t from = 0;
  for (const std::string& part : pattern.parts) {
    const std::size_t at = lower_case_name.find(part, from);
    if (at == std::string_view::npos) return false;
    from = at + part.size();
  }
  return !pattern.parts.empty();
}

KernelKind KernelKinds::kind_of(std::string_view name) const {
  const std::string lower = lower_case(name);
  const auto found = std::ranges::find_if(
      patterns_, [&](const KernelPattern& pattern) { return matches(pattern, lower); });
  return found == patterns_.end() ? KernelKind::unknown : found->kind;
}

KernelKinds parse_kernel_kinds(const std::shared_ptr<const Source>& source) {
  Problems problems;
  const auto tree = parse_tree(source, "", problems);
  problems.throw_if_any();
  const Entry* rows = tree->find("kernels");
  std::vector<KernelPattern> patterns;
  if (rows == nullptr || rows->value.kind != Tree::Kind::list) {
    problems.add({source, 1, 1}, "kernels", "a table of kernels has a list `kernels`");
  } else {
    for (const Tree& row : rows->value.items) patterns.push_back(pattern_of(row, problems));
  }
  problems.throw_if_any();
  return KernelKinds(std::move(patterns));
}

KernelKinds load_kernel_kinds(const Library& library) {
  for (const std::string& root : library.roots) {
    const std::filesystem::path path = std::filesystem::path(root) / "calib" / "kernels.yaml";
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored))
      return parse_kernel_kinds(read_source(path.string()));
  }
  throw IoError("calib/kernels.yaml, which says what kernels are, is in no folder of the library");
}

}  // namespace stepsim
