// A folder of JPEG files, made when asked for and removed afterwards.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace stepsim {

class JpegFiles {
 public:
  /// `count` pictures of width x height pixels in a new folder. Throws std::runtime_error.
  JpegFiles(int count, int width, int height);
  ~JpegFiles();
  JpegFiles(const JpegFiles&) = delete;
  JpegFiles& operator=(const JpegFiles&) = delete;

  std::size_t size() const { return files_.size(); }
  /// Reads one (modulo their number) and decodes it; the number of its bytes on disk.
  std::size_t load(std::size_t which) const {
    return load(which, [](const auto&) {});
  }
  /// The same, and shows its pixels: red, green and blue of each, row by row.
  std::size_t load(std::size_t which,
                   const std::function<void(const std::vector<unsigned char>&)>& show) const;

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace stepsim
