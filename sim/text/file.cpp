// Writes temporary files, and removes them where the program ends before it has renamed them.
#include "sim/text/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

[[noreturn]] void fail(std::string_view attempt, const std::string& path) {
  const int reason = errno;
  throw IoError(
      fmt::format("cannot {} '{}': {}", attempt, path,
                  reason != 0 ? std::strerror(reason) : "the disk took only a part of it"));
}

/// While an Unfinished lives, a signal that ends the program removes its file first. One Unfinished
/// may live inside another.
class Unfinished {
 public:
  explicit Unfinished(const std::string& path) : path_(path.c_str()), outer_(innermost_) {
    innermost_ = this;
    struct sigaction removal {};
    removal.sa_handler = remove_and_end;
    removal.sa_flags = static_cast<int>(SA_RESETHAND);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &removal, nullptr);
    }
  }
  ~Unfinished() {
    innermost_ = outer_;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

  /// Removes all unfinished files, then sends the signal anew with its default action, so that the
  /// shell learns what happened.
  static void remove_and_end(int signal) {
    for (const Unfinished* one = innermost_; one != nullptr; one = one->outer_) unlink(one->path_);
    raise(signal);
  }

  static inline const Unfinished* volatile innermost_ = nullptr;
  const char* path_;
  const Unfinished* outer_;
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// A stream buffer that compresses into a file. The header has no time in it, so that equal
/// contents give equal bytes.
class GzipBuffer : public std::streambuf {
 public:
  explicit GzipBuffer(const std::string& path)
      : file_(gzopen(path.c_str(), "wb")), pending_(1 << 16) {
    setp(pending_.data(), pending_.data() + pending_.size());
  }
  ~GzipBuffer() override { close(); }
  GzipBuffer(const GzipBuffer&) = delete;
  GzipBuffer& operator=(const GzipBuffer&) = delete;

  bool is_open() const { return file_ != nullptr; }

  /// Writes the rest and closes the file; true when every byte arrived.
  bool close() {
    if (file_ == nullptr) return false;
    const bool written = drain();
    const bool closed = gzclose(file_) == Z_OK;
    file_ = nullptr;
    return written && closed;
  }

 protected:
  int_type overflow(int_type c) override {
    if (!drain()) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override { return drain() ? 0 : -1; }

 private:
  bool drain() {
    const auto size = static_cast<unsigned>(pptr() - pbase());
    const bool written = size == 0 || gzwrite(file_, pbase(), size) == static_cast<int>(size);
    setp(pending_.data(), pending_.data() + pending_.size());
    return written;
  }

  gzFile file_;
  std::vector<char> pending_;
};

/// Writes the file `path`. Errors cite `named`, the file that was asked for, instead of the
/// temporary one.
void write_plain(const std::string& path, const std::string& named,
                 const std::function<void(std::ostream&)>& write) {
  std::ofstream out(path, std::ios::binary);
  if (!out) fail("write", named);
  write(out);
  out.close();
  if (!out) fail("write", named);
}

void write_gzip(const std::string& path, const std::string& named,
                const std::function<void(std::ostream&)>& write) {
  GzipBuffer buffer(path);
  if (!buffer.is_open()) fail("write", named);
  std::ostream out(&buffer);
  write(out);
  if (!buffer.close() || !out) fail("write", named);
}

/// The file that is to be replaced: where `named` is a link, what it leads to.
std::string replaced_file(const std::string& named) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool leads_on = fs::is_symlink(named, ignored) && fs::exists(named, ignored);
  return leads_on ? fs::canonical(named).string() : named;
}

/// A name beside `path` that no file has.
std::string temporary_name(const std::string& path) {
  std::error_code ignored;
  std::string name = fmt::format("{}.{}.tmp", path, getpid());
  for (int number = 2; std::filesystem::exists(std::filesystem::symlink_status(name, ignored));
       ++number)
    name = fmt::format("{}.{}-{}.tmp", path, getpid(), number);
  return name;
}

/// Makes the temporary file, with the permissions of the file that it is to replace.
void make_file(const std::string& temporary, const std::string& path, const std::string& named) {
  struct stat replaced {};
  const bool replaces = stat(path.c_str(), &replaced) == 0;
  const int file = open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) fail("write", named);
  if (replaces) [[maybe_unused]]
    const int ignored = fchmod(file, replaced.st_mode & 07777);
  close(file);
}

}  // namespace

void save_file(const Output& output, const std::function<void(std::ostream&)>& write) {
  namespace fs = std::filesystem;
  check_outputs({output});
  const std::string& named = output.path;
  std::error_code ignored;
  const auto writer = named.ends_with(".gz") ? write_gzip : write_plain;
  // Writes to a device or a pipe directly: renaming would replace it.
  if (fs::exists(named, ignored) && !fs::is_regular_file(named, ignored)) {
    errno = 0;
    return writer(named, named, write);
  }
  const std::string path = replaced_file(named);
  const std::string temporary = temporary_name(path);
  const Unfinished unfinished(temporary);
  errno = 0;
  make_file(temporary, path, named);
  errno = 0;
  try {
    writer(temporary, named, write);
    if (std::rename(temporary.c_str(), path.c_str()) != 0)
      fail("rename '" + temporary + "' to", path);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
}

void save_files(const std::vector<OutputText>& files) {
  if (files.empty()) return;
  const std::vector<OutputText> others(files.begin() + 1, files.end());
  const OutputText& first = files.front();
  save_file(first.output, [&](std::ostream& out) {
    out.write(first.text.data(), static_cast<std::streamsize>(first.text.size()));
    if (!out.flush()) fail("write", first.output.path);
    save_files(others);
  });
}

void save_file(const Output& output, std::string_view text) {
  Output asked = output;
  const bool is_same = beginning_of(output.path, text.size() + 1) == text;
  asked.force = output.force || is_same;
  save_file(asked, [&](std::ostream& out) {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
  });
}

std::string beginning_of(const std::string& path, std::size_t most) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return "";
  const auto size = std::min<std::uintmax_t>(std::filesystem::file_size(path, ignored), most);
  std::string text(static_cast<std::size_t>(size), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

}  // namespace stepsim
