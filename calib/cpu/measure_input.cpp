// Measures what a loader's worker does for a sample: it reads a file and decodes a picture.
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "calib/cpu/laboratory.hpp"
#include "calib/cpu/sampler.hpp"
#include "calib/harness/not_offered.hpp"
#ifdef STEPSIM_PICTURES
#include "validate/loader/jpeg_files.hpp"
#endif

namespace stepsim::cpu {
namespace {

using calib::NotOffered;

constexpr int kFiles = 16;

class File {
 public:
  File(const std::string& name, int flags) : file_(open(name.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (file_ >= 0) close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return file_ >= 0; }
  int number() const { return file_; }

 private:
  int file_;
};

/// Files of so many bytes each, in a folder that is removed with them.
class Files {
 public:
  Files(const std::string& folder, std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)), buffer_(bytes_, 'x') {
    std::string name = (std::filesystem::path(folder) / "stepsim-files-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("no folder for files could be made in " + folder);
    folder_ = name;
    for (int i = 0; i < kFiles; ++i) write(i);
  }
  ~Files() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  void read(int which) {
    const File file(name(which), O_RDONLY);
    std::size_t done = 0;
    while (file.is_open() && done < bytes_) {
      const ssize_t now = ::read(file.number(), buffer_.data() + done, bytes_ - done);
      if (now <= 0) break;
      done += static_cast<std::size_t>(now);
    }
    if (done < bytes_) throw std::runtime_error("a file of its own could not be read");
  }

 private:
  std::string name(int which) const { return (folder_ / std::to_string(which % kFiles)).string(); }
  void write(int which) const {
    const File file(name(which), O_WRONLY | O_CREAT);
    const bool whole = file.is_open() && ::write(file.number(), buffer_.data(), bytes_) ==
                                             static_cast<ssize_t>(bytes_);
    if (!whole || fsync(file.number()) != 0)
      throw std::runtime_error("files could not be written to " + folder_.string());
  }

  std::size_t bytes_;
  std::vector<char> buffer_;
  std::filesystem::path folder_;
};

}  // namespace

Measured measure(const FileReadPoint& point, const Bench& bench) {
  if (point.cache != PageCache::warm) throw NotOffered("only files that are in the page cache");
  Files files(bench.folder, point.bytes);
  Measured measured;
  measured.timing = time_alone(bench.ranks, [&](int turn) { files.read(turn); });
  return measured;
}

Measured measure([[maybe_unused]] const DecodePoint& point, [[maybe_unused]] const Bench& bench) {
#ifdef STEPSIM_PICTURES
  const JpegFiles files(kFiles, static_cast<int>(point.width), static_cast<int>(point.height));
  std::vector<std::vector<unsigned char>> bytes;
  for (std::size_t i = 0; i < kFiles; ++i) bytes.push_back(files.read(i));
  Measured measured;
  measured.timing = time_alone(bench.ranks, [&](int turn) {
    (void)JpegFiles::decode(bytes[static_cast<std::size_t>(turn % kFiles)]);
  });
  return measured;
#else
  throw NotOffered("built without libturbojpeg");
#endif
}

}  // namespace stepsim::cpu
