// Seals a file by a last line with a hash of what is above it, and looks for that line.
#include "sim/command/sealed_file.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/hash.hpp"
#include "sim/core/source.hpp"

namespace stepsim {
namespace {

std::string seal_of(const std::string& text, const std::string& command) {
  return fmt::format("# Written by {}: {}\n", command, fnv1a_hex(text));
}

}  // namespace

std::string sealed(const std::string& text, const std::string& command) {
  return text + seal_of(text, command);
}

bool is_sealed(const std::string& text, const std::string& command) {
  const std::size_t size = seal_of("", command).size();
  if (text.size() < size) return false;
  return text == sealed(text.substr(0, text.size() - size), command);
}

void refuse_to_replace(const std::vector<std::string>& files, const std::string& command,
                       bool force) {
  std::vector<std::string> foreign;
  std::error_code ignored;
  for (const std::string& file : files) {
    if (force || !std::filesystem::exists(file, ignored)) continue;
    const bool is_file = std::filesystem::is_regular_file(file, ignored);
    if (is_file && !is_sealed(read_source(file)->text, command)) foreign.push_back(file);
  }
  if (foreign.empty()) return;
  throw UserError(fmt::format("{} {} there already, and not as {} wrote it; --force replaces {}",
                              fmt::join(foreign, ", "), foreign.size() == 1 ? "is" : "are", command,
                              foreign.size() == 1 ? "it" : "them"));
}

}  // namespace stepsim
