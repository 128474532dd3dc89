// Opens and reads with the system's own calls: streams cannot wait for a pipe for a limited time.
#include "sim/core/system/open_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/core/system/files_read.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kPiece = 1 << 16;
constexpr std::string_view kStandardInput = "-";
/// Whoever was started together with this program may not have opened the pipe yet.
constexpr int kPatience = 2000;  // milliseconds; judgement

}  // namespace

OpenFile::OpenFile(const std::string& path)
    : path_(path),
      file_(path == kStandardInput
                ? dup(STDIN_FILENO)
                : open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  // What throws here has no destructor that closes.
  const auto refuse = [&](const std::string& why) {
    if (file_ >= 0) close(file_);
    fail(why);
  };
  if (file_ < 0 || fstat(file_, &status_) != 0) refuse(std::strerror(errno));
  if (S_ISDIR(status_.st_mode)) refuse("it is a folder");
  // Somebody may type a file, or paste it.
  if (S_ISBLK(status_.st_mode) || (S_ISCHR(status_.st_mode) && isatty(file_) == 0))
    refuse("it is a device, which holds no text");
  note_read(status_);
}

OpenFile::~OpenFile() {
  if (file_ >= 0) close(file_);
}

bool OpenFile::stays() const { return is_regular() && path_ != kStandardInput; }

std::string OpenFile::text(std::size_t most) {
  // The text grows piece by piece: a buffer for the largest file would stay with every small one,
  // 64 MiB a table.
  std::string text, piece(std::min(most + 1, kPiece), '\0');
  if (is_regular()) text.reserve(std::min(most, static_cast<std::size_t>(status_.st_size)) + 1);
  if (!is_regular()) wait(S_ISFIFO(status_.st_mode) && path_ != kStandardInput ? kPatience : -1);
  while (text.size() <= most) {
    const ssize_t got = read(file_, piece.data(), std::min(piece.size(), most + 1 - text.size()));
    if (got == 0) break;
    if (got > 0) {
      text.append(piece, 0, static_cast<std::size_t>(got));
    } else if (errno == EAGAIN) {
      wait(-1);
    } else if (errno != EINTR) {
      fail(std::strerror(errno));
    }
  }
  if (is_awaited_ && text.empty()) fail("it is a pipe that nobody writes to");
  text.shrink_to_fit();
  return text;
}

void OpenFile::fail(const std::string& why) const {
  throw IoError(fmt::format("cannot read {}: {}", quoted_path(path_), why));
}

void OpenFile::wait(int milliseconds) {
  pollfd one{file_, POLLIN, 0};
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  int left = milliseconds, ready = 0;
  while ((ready = poll(&one, 1, left)) < 0 && errno == EINTR) {
    if (milliseconds < 0) continue;
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    left = static_cast<int>(std::max<std::int64_t>(rest.count(), 0));
  }
  is_awaited_ = ready == 0;
}

}  // namespace stepsim
