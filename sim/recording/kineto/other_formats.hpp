// Files that are no recording of PyTorch's profiler, by what stands in them: what they are, and
// what to do instead.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace stepsim {

/// What a file is that begins with these bytes, in the middle of a sentence ("a database of SQLite;
/// ..."). Empty where they may begin JSON, or say nothing.
std::string other_format_by_head(std::string_view head, const std::string& path);

/// What a JSON document is that has these members on top. Empty where they say nothing.
std::string other_format_by_members(const std::set<std::string>& members);

}  // namespace stepsim
