// Tells formats of recordings apart by their first bytes.
#include "sim/recording/files/read_recordings.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/core/system/files_read.hpp"
#include "sim/recording/core_device.hpp"
#include "sim/recording/kineto/read_kineto.hpp"
#include "sim/recording/nsys/read_nsys.hpp"
#include "sim/recording/simulated/read_simulated.hpp"

namespace stepsim {
namespace {

using namespace std::string_view_literals;

/// SQLite's own description of its file format, section 1.3.1.
constexpr std::string_view kSqlite = "SQLite format 3\0"sv;

bool begins_as_sqlite(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kSqlite.size()> head{};
  file.read(head.data(), head.size());
  return file && std::string_view(head.data(), head.size()) == kSqlite;
}

}  // namespace

std::vector<Recording> read_recordings(const std::string& path) {
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(path, failed);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw IoError(fmt::format("cannot read {}: it is no file; a recording is read from one",
                              quoted_path(path)));
  note_read(path);
  if (begins_as_sqlite(path)) return read_nsys(path);
  if (is_simulated(path))
    throw UserError(
        fmt::format("{}: this is a trace of stepsim, not of a rank that ran: explain it "
                    "by itself",
                    quoted_path(path)));
  std::vector<Recording> one;
  one.push_back(read_kineto(path));
  if (is_of_core(one.front())) one.front() = with_core_as_device(std::move(one.front()));
  return one;
}

}  // namespace stepsim
