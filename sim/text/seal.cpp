// Seals a file by a last line with a hash of what is above it, and looks for that line.
#include "sim/text/seal.hpp"

#include <string_view>

#include <fmt/format.h>

#include "sim/core/hash.hpp"
#include "sim/text/file.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kLargestSealed = 16 << 20;  ///< far above what any command seals

std::string seal_of(const std::string& text, const std::string& command) {
  return fmt::format("# Written by {}: {}\n", command, fnv1a_hex(text));
}

bool is_json(std::string_view text) { return text.starts_with('{'); }

/// By the lines of members that are indented once; what stands in texts has no such lines.
bool has_members(std::string_view text, const std::vector<std::string>& members) {
  if (members.empty() || !is_json(text)) return false;
  std::size_t at = 0;
  for (const std::string& member : members) {
    at = text.find(fmt::format("\n  \"{}\": ", member), at);
    if (at == std::string_view::npos) return false;
    ++at;
  }
  return text.starts_with(fmt::format("{{\n  \"{}\": ", members.front()));
}

}  // namespace

std::string sealed(const std::string& text, const std::string& command) {
  return is_json(text) ? text : text + seal_of(text, command);
}

bool is_sealed(const std::string& text, const std::string& command) {
  const std::size_t size = seal_of("", command).size();
  if (text.size() < size) return false;
  const std::string above = text.substr(0, text.size() - size);
  return text == above + seal_of(above, command);
}

Maker sealed_by(const std::string& command, const std::vector<std::string>& members) {
  return {command + " wrote it", [command, members](const std::string& path) {
            const std::string text = beginning_of(path, kLargestSealed);
            return is_sealed(text, command) || has_members(text, members);
          }};
}

}  // namespace stepsim
