// The bytes of a file, one piece after the other; what is compressed is unpacked on the way.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace stepsim {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Up to `most` of the next bytes; 0 at the end. Throws IoError where the file cannot be read.
  virtual std::size_t read(char* to, std::size_t most) = 0;
  /// Whether the bytes ended before they should: compressed ones that are cut or damaged.
  virtual bool is_cut() const { return false; }
};

/// The bytes of a regular file; unpacked, and again, where they begin as gzip does, whatever the
/// file is called. Throws IoError where it cannot be opened.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

}  // namespace stepsim
