// What a loader's worker does for a sample: reads a file, decodes a picture.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calib/cpu/laboratory.hpp"
#include "calib/cpu/sampler.hpp"
#include "calib/cpu/stopwatch.hpp"
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

/// Files of so many bytes in a folder that goes with them.
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

  /// Out of the page cache. False when the system keeps a part of it.
  bool evict(int which) const {
    const File file(name(which), O_RDONLY);
    if (!file.is_open() || posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED) != 0)
      return false;
    void* const pages = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file.number(), 0);
    if (pages == MAP_FAILED) return false;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> there((bytes_ + page - 1) / page);
    const bool told = mincore(pages, bytes_, there.data()) == 0;
    munmap(pages, bytes_);
    return told && std::none_of(there.begin(), there.end(), [](int is) { return (is & 1) != 0; });
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

double wall_of(const std::function<void()>& work) {
  const Moment start = now();
  work();
  return std::max((now() - start).wall, 1e-9);
}

/// The same answer on all ranks.
bool on_all(const Ranks& ranks, bool here) { return ranks.smallest(here ? 1 : 0) > 0.5; }

}  // namespace

calib::Measured measure(const calib::FileReadPoint& point, const Bench& bench) {
  Files files(bench.folder, point.bytes);
  calib::Measured measured;
  if (point.cache == calib::PageCache::warm) {
    measured.timing = time_alone(bench.ranks, [&](int turn) { files.read(turn); });
    return measured;
  }
  bool evicted = true;
  for (int i = 0; i < kFiles; ++i) evicted = files.evict(i) && evicted;
  if (!on_all(bench.ranks, evicted))
    throw NotOffered("files there stay in memory, whatever is asked for");
  // Each file once: what was read is in the cache.
  std::vector<double> samples;
  for (int i = 0; i < kFiles; ++i) samples.push_back(wall_of([&] { files.read(i); }));
  measured.timing = calib::summarise(samples);
  calib::Timing& timing = measured.timing;
  for (double* value : {&timing.seconds, &timing.p10, &timing.p90})
    *value = bench.ranks.mean(*value);
  return measured;
}

calib::Measured measure([[maybe_unused]] const calib::DecodePoint& point,
                        [[maybe_unused]] const Bench& bench) {
#ifdef STEPSIM_PICTURES
  const JpegFiles files(kFiles, static_cast<int>(point.width), static_cast<int>(point.height));
  std::vector<std::vector<unsigned char>> bytes;
  for (std::size_t i = 0; i < kFiles; ++i) bytes.push_back(files.read(i));
  calib::Measured measured;
  measured.timing = time_alone(bench.ranks, [&](int turn) {
    (void)JpegFiles::decode(bytes[static_cast<std::size_t>(turn % kFiles)]);
  });
  return measured;
#else
  throw NotOffered("built without libturbojpeg");
#endif
}

}  // namespace stepsim::cpu
