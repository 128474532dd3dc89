// Collects and orders diagnostics.
#include "sim/core/problems.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace stepsim {
namespace {

constexpr std::size_t kMostShown = 100;  // A file with more mistakes than that is the wrong file.

/// Whether `outer` is `inner`, or a map that holds it.
bool holds(std::string_view outer, std::string_view inner) {
  return inner.starts_with(outer) &&
         (inner.size() == outer.size() || inner[outer.size()] == '.' || inner[outer.size()] == '[');
}

}  // namespace

void Problems::add(const Place& place, const std::string& path, std::string message,
                   std::string proposal) {
  if (!path.empty()) paths_.insert(path);
  if (found_.size() == kMostShown) {
    ++left_out_;
    return;
  }
  Diagnostic diagnostic{.line = place.line, .column = place.column};
  diagnostic.message = std::move(message);
  diagnostic.proposal = std::move(proposal);
  if (place.source) {
    diagnostic.file = place.source->name;
    const bool is_one_line = place.source->is_override && place.column > 0;
    diagnostic.source_line = place.source->line(is_one_line ? 1 : place.line);
    if (first_non_text(diagnostic.source_line) != std::string::npos) diagnostic.source_line.clear();
  }
  if (std::ranges::find(files_, diagnostic.file) == files_.end()) {
    files_.push_back(diagnostic.file);
  }
  found_.push_back(std::move(diagnostic));
}

bool Problems::spoiled(std::string_view path) const {
  return std::ranges::any_of(
      paths_, [&](const std::string& other) { return holds(other, path) || holds(path, other); });
}

void Problems::throw_if_any() const {
  if (found_.empty()) return;
  std::vector<Diagnostic> sorted = found_;
  const auto rank = [&](const Diagnostic& d) {
    return std::tuple(std::ranges::find(files_, d.file) - files_.begin(), d.line, d.column);
  };
  std::ranges::stable_sort(
      sorted, [&](const Diagnostic& a, const Diagnostic& b) { return rank(a) < rank(b); });
  if (left_out_ > 0) {
    Diagnostic rest;
    rest.message = fmt::format("and {} more mistakes", left_out_);
    sorted.push_back(std::move(rest));
  }
  throw UserError(std::move(sorted));
}

}  // namespace stepsim
