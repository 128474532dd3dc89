// A file that is open to be read as text: regular, a pipe, or standard input.
#pragma once

#include <cstddef>
#include <string>

#include <sys/stat.h>

namespace stepsim {

/// A file that is open, of a kind that holds text. Opening it waits for nobody; reading waits a
/// while for whoever opens a pipe to write, and as long as it takes for what they write.
class OpenFile {
 public:
  /// "-" is standard input. Throws IoError when it cannot be opened, is a folder or a device.
  explicit OpenFile(const std::string& path);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// Whether its text can be read again.
  bool stays() const;
  /// Its text, and one byte more than `most` of a longer one. Throws IoError for a pipe that nobody
  /// writes to.
  std::string text(std::size_t most);

 private:
  bool is_regular() const { return S_ISREG(status_.st_mode); }
  [[noreturn]] void fail(const std::string& why) const;
  /// Until there is something to read, or nobody writes any more.
  void wait(int milliseconds);

  std::string path_;
  int file_;
  struct stat status_ {};
  bool is_awaited_ = false;  ///< nobody has written yet, or opened it to write
};

}  // namespace stepsim
