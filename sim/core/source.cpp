// Reads files, and tells text from what is not text.
#include "sim/core/source.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/system/open_file.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kLongestQuote = 60;
constexpr std::size_t kLongestPath = 4096;  // PATH_MAX of Linux

bool is_control(unsigned char c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
}

/// Bytes of the UTF-8 sequence that starts at `at`; 0 when there is none (RFC 3629, section 4).
std::size_t sequence_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return follows(1) ? 2 : 0;
  if (!follows(1) || !follows(2)) return 0;
  const unsigned code = (lead & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  if (lead >= 0xe0 && lead < 0xf0) return code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 3 : 0;
  if (lead < 0xf0 || lead > 0xf4 || !follows(3)) return 0;
  const unsigned plane = (lead & 0x07) << 2 | (byte(1) & 0x30) >> 4;
  return plane >= 1 && plane <= 16 ? 4 : 0;
}

}  // namespace

std::string Source::line(int number) const {
  if (number < 1) return "";
  std::size_t from = 0;
  for (int current = 1; current < number; ++current) {
    from = text.find('\n', from);
    if (from == std::string::npos) return "";
    ++from;
  }
  std::string result = text.substr(from, text.find('\n', from) - from);
  if (!result.empty() && result.back() == '\r') result.pop_back();
  return result;
}

std::shared_ptr<const Source> read_source(const std::string& path, std::size_t most) {
  // A pipe's text comes once for the whole process, as the pipe itself is of the process: whoever
  // asks again is given what came.
  static std::map<std::string, std::shared_ptr<const Source>> came;
  if (const auto known = came.find(path); known != came.end()) return known->second;
  OpenFile file(path);
  auto source = std::make_shared<const Source>(Source{path, folder_of(path), file.text(most)});
  if (!file.stays()) came.emplace(path, source);
  return source;
}

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : (std::filesystem::path(folder) / name).lexically_normal().string();
}

namespace {

/// The text with control characters escaped, cut where it has more than `most` bytes.
std::string quoted_to(const std::string& text, std::size_t most) {
  std::string result = "'";
  for (const char c : text) {
    if (result.size() > most && (static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      return result + "...'";
    }
    const bool plain =
        !is_control(static_cast<unsigned char>(c)) && c != '\n' && c != '\r' && c != '\t';
    result += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result + "'";
}

}  // namespace

std::string quoted(const std::string& text) { return quoted_to(text, kLongestQuote); }

std::string quoted_path(const std::string& path) { return quoted_to(path, kLongestPath); }

Place place_at(const std::shared_ptr<const Source>& source, std::size_t offset) {
  const std::string& text = source->text;
  offset = std::min(offset, text.size());
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
  const auto line = std::count(text.begin(), end, '\n');
  const std::size_t start = line == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  return {source, static_cast<int>(line) + 1, static_cast<int>(offset - start) + 1};
}

std::size_t first_non_text(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    if (length == 0 || is_control(static_cast<unsigned char>(text[at]))) return at;
    at += length;
  }
  return std::string::npos;
}

}  // namespace stepsim
