// Reads files piece by piece, and unpacks gzip (RFC 1952) through zlib.
#include "sim/recording/kineto/byte_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"

namespace stepsim {
namespace {

/// A file that was packed twice has been met; nobody packs more often than that.
constexpr int kMostLayers = 3;
constexpr std::size_t kPacked = 64 << 10;  // bytes that are unpacked at a time

class FileBytes : public ByteSource {
 public:
  explicit FileBytes(std::string path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail();
  }
  ~FileBytes() override { ::close(file_); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::size_t read(char* to, std::size_t most) override {
    ssize_t got = 0;
    do got = ::read(file_, to, most);
    while (got < 0 && errno == EINTR);
    if (got < 0) fail();
    return static_cast<std::size_t>(got);
  }

 private:
  [[noreturn]] void fail() const {
    throw IoError(fmt::format("cannot read {}: {}", quoted_path(path_), std::strerror(errno)));
  }
  std::string path_;
  int file_;
};

/// Bytes whose first ones were looked at.
class PeekedBytes : public ByteSource {
 public:
  explicit PeekedBytes(std::unique_ptr<ByteSource> inner) : inner_(std::move(inner)) {
    std::size_t got = 0;
    while (size_ < head_.size() && (got = inner_->read(&head_[size_], head_.size() - size_)) > 0)
      size_ += got;
  }
  bool is_gzip() const { return size_ == 2 && head_[0] == '\x1f' && head_[1] == '\x8b'; }

  std::size_t read(char* to, std::size_t most) override {
    if (given_ == size_) return inner_->read(to, most);
    const std::size_t part = std::min(most, size_ - given_);
    std::copy_n(&head_[given_], part, to);
    given_ += part;
    return part;
  }
  bool is_cut() const override { return inner_->is_cut(); }

 private:
  std::unique_ptr<ByteSource> inner_;
  std::array<char, 2> head_{};
  std::size_t size_ = 0, given_ = 0;
};

class GzipBytes : public ByteSource {
 public:
  explicit GzipBytes(std::unique_ptr<ByteSource> packed)
      : packed_(std::move(packed)), input_(kPacked) {
    // 16 beyond the largest window: a header of gzip, not of zlib (zlib.h, inflateInit2).
    if (inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK)
      throw InternalError("zlib cannot be initialised");
  }
  ~GzipBytes() override { inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  std::size_t read(char* to, std::size_t most) override {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(most, 1U << 30));
    const uInt room = stream_.avail_out;
    while (!is_over_ && stream_.avail_out == room) unpack();
    return room - stream_.avail_out;
  }
  bool is_cut() const override { return is_cut_ || packed_->is_cut(); }

 private:
  void unpack() {
    if (stream_.avail_in == 0) {
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(packed_->read(input_.data(), input_.size()));
    }
    if (stream_.avail_in == 0) {
      is_over_ = true;
      is_cut_ = !is_between_members_;
      return;
    }
    const int code = inflate(&stream_, Z_NO_FLUSH);
    is_between_members_ = code == Z_STREAM_END;
    if (is_between_members_) {  // a file may be several that were put behind each other
      has_member_ = true;
      inflateReset(&stream_);
    } else if (code != Z_OK) {
      is_over_ = true;
      is_cut_ = !has_member_ || stream_.total_out > 0;  // behind a whole member anything may stand
    }
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  z_stream stream_{};
  bool is_over_ = false, is_cut_ = false, is_between_members_ = false, has_member_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  auto bytes = std::make_unique<PeekedBytes>(std::make_unique<FileBytes>(path));
  for (int layer = 0; layer < kMostLayers && bytes->is_gzip(); ++layer)
    bytes = std::make_unique<PeekedBytes>(std::make_unique<GzipBytes>(std::move(bytes)));
  return bytes;
}

}  // namespace stepsim
