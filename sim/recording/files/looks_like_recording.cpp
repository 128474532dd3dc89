// Tells recordings from scenarios by what stands in them: a scenario is YAML, which JSON is, too.
#include "sim/recording/files/looks_like_recording.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "sim/core/source.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kEnd = 64 << 10;  // bytes of each end of the file that are looked at

/// Words of profilers' files that no scenario has.
constexpr std::array<std::string_view, 7> kMarks{
    "\"traceEvents\"",    "\"schemaVersion\"",        "\"deviceProperties\"", "\"ph\"",
    "\"workload_graph\"", "\"rocprofiler-sdk-tool\"", "\"start_ts\""};

std::string part_of(std::ifstream& file, std::size_t from, std::size_t size) {
  std::string text(size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(from));
  file.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

bool is_binary(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) {
    return c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
  });
}

bool has_mark(const std::string& text) {
  return std::ranges::any_of(
      kMarks, [&](std::string_view mark) { return text.find(mark) != std::string::npos; });
}

}  // namespace

bool looks_like_recording(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const auto size = static_cast<std::size_t>(std::filesystem::file_size(path, ignored));
  std::ifstream file(path, std::ios::binary);
  const std::string head = part_of(file, 0, std::min(size, kEnd));
  if (head.starts_with("\x1f\x8b") || is_binary(std::string_view(head).substr(0, 512))) return true;
  const std::size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string::npos || (head[first] != '{' && head[first] != '[')) return false;
  if (head[first] == '[' || size > kLargestFile || has_mark(head)) return true;
  return size > kEnd && has_mark(part_of(file, size - kEnd, kEnd));
}

}  // namespace stepsim
