// A lock on a file of results, so that one program at a time writes it.
#pragma once

#include <string>

namespace stepsim {

/// While a WriterLock lives, no other stepsim has a lock of its file. It must outlive the database,
/// because closing a file gives up SQLite's locks as well (POSIX).
class WriterLock {
 public:
  /// Takes the lock of the file. Throws UserError where another program keeps it.
  explicit WriterLock(const std::string& path);
  ~WriterLock();
  WriterLock(WriterLock&& other) noexcept;
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  int file_;
};

}  // namespace stepsim
