// A folder of JPEG files, made when asked for and removed afterwards.
#pragma once

#include <filesystem>
#include <vector>

namespace stepsim {

class JpegFiles {
 public:
  /// Makes `count` pictures of width x height pixels in a new folder. Throws std::runtime_error.
  JpegFiles(int count, int width, int height);
  ~JpegFiles();
  JpegFiles(const JpegFiles&) = delete;
  JpegFiles& operator=(const JpegFiles&) = delete;

  std::size_t size() const { return files_.size(); }
  /// The bytes of a file on disk; `which` counts modulo the number of files. Throws
  /// std::runtime_error.
  std::vector<unsigned char> read(std::size_t which) const;
  /// The pixels of a picture: red, green and blue of each, row by row. May be called on any thread.
  /// Throws std::runtime_error.
  static std::vector<unsigned char> decode(const std::vector<unsigned char>& bytes);
  /// Reads and decodes a file; returns the number of its bytes on disk. Throws std::runtime_error.
  std::size_t load(std::size_t which) const;

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace stepsim
