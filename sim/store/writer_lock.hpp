// One program at a time writes a file of results.
#pragma once

#include <string>

namespace stepsim {

/// While it lives no other stepsim has a lock of that file. It must outlive the database: closing a
/// file gives up the locks of SQLite, too (POSIX).
class WriterLock {
 public:
  /// Throws UserError where another one keeps it.
  explicit WriterLock(const std::string& path);
  ~WriterLock();
  WriterLock(WriterLock&& other) noexcept;
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  int file_;
};

}  // namespace stepsim
