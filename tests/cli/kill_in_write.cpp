// Loaded before a program's own libraries, ends it by SIGKILL in the middle of a write: half of what
// is written to a file whose path begins with $STEPSIM_KILLED_FILE arrives.
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

bool is_chosen(int file) {
  const char* wanted = std::getenv("STEPSIM_KILLED_FILE");
  if (wanted == nullptr) return false;
  char link[64] = "/proc/self/fd/", path[4096] = "", digits[16];
  int length = 0;
  do digits[length++] = static_cast<char>('0' + file % 10);
  while ((file /= 10) > 0);
  char* at = link + std::strlen(link);
  while (length > 0) *at++ = digits[--length];
  const ssize_t size = readlink(link, path, sizeof path - 1);
  return size > 0 && std::strncmp(path, wanted, std::strlen(wanted)) == 0;
}

}  // namespace

extern "C" ssize_t write(int file, const void* data, size_t size) {
  if (!is_chosen(file)) return syscall(SYS_write, file, data, size);
  syscall(SYS_write, file, data, size / 2);
  raise(SIGKILL);
  return -1;
}

extern "C" ssize_t writev(int file, const iovec* parts, int count) {
  if (!is_chosen(file)) return syscall(SYS_writev, file, parts, count);
  return write(file, parts[0].iov_base, parts[0].iov_len);
}

extern "C" ssize_t pwrite64(int file, const void* data, size_t size, off64_t offset) {
  if (!is_chosen(file)) return syscall(SYS_pwrite64, file, data, size, offset);
  syscall(SYS_pwrite64, file, data, size / 2, offset);
  raise(SIGKILL);
  return -1;
}

extern "C" ssize_t pwrite(int file, const void* data, size_t size, off_t offset) {
  return pwrite64(file, data, size, offset);
}
