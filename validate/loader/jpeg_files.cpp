// Makes pictures of waves and grain, and compresses and decodes them by libjpeg-turbo.
#include "validate/loader/jpeg_files.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include <turbojpeg.h>

namespace stepsim {
namespace {

using Pixels = std::vector<unsigned char>;
using Codec = std::unique_ptr<void, int (*)(tjhandle)>;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

/// A picture of waves, which differ from picture to picture, and grain, so that it has about the
/// bytes of a photo.
Pixels picture(int seed, int width, int height) {
  Pixels pixels;
  std::uint32_t state = static_cast<std::uint32_t>(seed) * 2654435761U + 1;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        state = state * 1664525U + 1013904223U;
        const double wave = std::sin((x + seed) * 0.05 * (channel + 1)) + std::cos(y * 0.07);
        const double grain = static_cast<double>(state >> 24) / 16;
        pixels.push_back(static_cast<unsigned char>(120 + 50 * wave + grain));
      }
    }
  }
  return pixels;
}

void write_jpeg(const std::filesystem::path& file, const Pixels& pixels, int width, int height) {
  const Codec codec(tjInitCompress(), tjDestroy);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  const int failed = tjCompress2(codec.get(), pixels.data(), width, 0, height, TJPF_RGB, &data,
                                 &size, TJSAMP_420, 90, 0);
  if (failed != 0) fail("a picture could not be compressed");
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  tjFree(data);
}

}  // namespace

JpegFiles::JpegFiles(int count, int width, int height) {
  std::string name = (std::filesystem::temp_directory_path() / "stepsim-jpegs-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail("no temporary folder could be made");
  folder_ = name;
  for (int i = 0; i < count; ++i) {
    files_.push_back(folder_ / (std::to_string(i) + ".jpg"));
    write_jpeg(files_.back(), picture(i, width, height), width, height);
  }
}

JpegFiles::~JpegFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<unsigned char> JpegFiles::read(std::size_t which) const {
  const std::filesystem::path& name = files_[which % files_.size()];
  std::ifstream file(name, std::ios::binary);
  Pixels bytes(std::filesystem::file_size(name));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) fail("a file could not be read");
  return bytes;
}

std::vector<unsigned char> JpegFiles::decode(const std::vector<unsigned char>& bytes) {
  thread_local const Codec codec(tjInitDecompress(), tjDestroy);
  int width = 0, height = 0, sampling = 0, space = 0;
  if (tjDecompressHeader3(codec.get(), bytes.data(), bytes.size(), &width, &height, &sampling,
                          &space) != 0)
    fail("a picture could not be read");
  Pixels pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  if (tjDecompress2(codec.get(), bytes.data(), bytes.size(), pixels.data(), width, 0, height,
                    TJPF_RGB, 0) != 0)
    fail("a picture could not be decoded");
  return pixels;
}

std::size_t JpegFiles::load(std::size_t which) const {
  const Pixels bytes = read(which);
  (void)decode(bytes);
  return bytes.size();
}

}  // namespace stepsim
