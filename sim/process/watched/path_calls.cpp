// Reads go to files of the machine, writes to copies; devices are closed but for four.
#include "sim/process/watched/path_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stepsim {
namespace fs = std::filesystem;

/// The path of a call, made absolute.
struct PathCalls::Path {
  int index;  ///< of the argument
  std::string stated;
  fs::path absolute;
};

namespace {

constexpr std::string_view kNothing = "/dev/null";
constexpr std::string_view kDevices[] = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"};
/// Where /dev/stdin and process substitutions lead: to the process's own pipes.
constexpr std::string_view kOwnPipes[] = {"/dev/fd/", "/proc/self/fd/", "/dev/stdin"};

bool is_own_pipe(const std::string& path) {
  return std::ranges::any_of(kOwnPipes,
                             [&](std::string_view start) { return path.starts_with(start); });
}

/// What programs look for by themselves, such as libraries.
constexpr std::string_view kOfSystem[] = {"/dev/", "/etc/", "/lib", "/proc/", "/sys/", "/usr/"};

bool is_of_system(const std::string& path) {
  return std::any_of(std::begin(kOfSystem), std::end(kOfSystem),
                     [&](std::string_view start) { return path.starts_with(start); });
}

fs::path linked(const std::string& link) {
  std::error_code none;
  return fs::read_symlink(link, none);
}

/// What a path that is not absolute begins at.
fs::path base_of(const StoppedCall& call, bool has_folder) {
  const std::string process = fmt::format("/proc/{}", call.process());
  const int folder = static_cast<int>(call.argument(0));
  if (!has_folder || folder == AT_FDCWD) return linked(process + "/cwd");
  return linked(fmt::format("{}/fd/{}", process, folder));
}

bool is_shell(pid_t process) {
  return linked(fmt::format("/proc/{}/exe", process)).filename() == "bash";
}

/// A file without a name, in the folder of the path; glibc's constant has O_DIRECTORY's bit, too.
constexpr std::uint64_t kNameless = __O_TMPFILE & ~O_DIRECTORY;

bool writes(std::uint64_t flags) {
  return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | kNameless)) != 0;
}

void send_to(StoppedCall& call, int index, const fs::path& path) {
  if (!call.replace(index, path.string())) call.answer(-ENAMETOOLONG);
}

struct CallKind {
  bool has_folder;  ///< its first argument is one, the path the second
  enum { open, create, look, enter, make_folder, remove, other } what;
};

CallKind kind_of(long number) {
  switch (number) {
#ifdef __NR_open
    case __NR_open:
      return {false, CallKind::open};
    case __NR_creat:
      return {false, CallKind::create};
    case __NR_mkdir:
      return {false, CallKind::make_folder};
    case __NR_unlink:
    case __NR_rmdir:
      return {false, CallKind::remove};
    case __NR_stat:
    case __NR_lstat:
    case __NR_access:
      return {false, CallKind::look};
#endif
    case __NR_openat:
      return {true, CallKind::open};
    case __NR_mkdirat:
      return {true, CallKind::make_folder};
    case __NR_unlinkat:
      return {true, CallKind::remove};
    case __NR_chdir:
      return {false, CallKind::enter};
    case __NR_newfstatat:
    case __NR_statx:
    case __NR_faccessat:
    case __NR_faccessat2:
      return {true, CallKind::look};
    default:
      return {false, CallKind::other};
  }
}

}  // namespace

void PathCalls::handle(StoppedCall& call) {
  const CallKind kind = kind_of(call.number());
  if (kind.what == CallKind::other) return call.answer(-EPERM);
  Path path{.index = kind.has_folder ? 1 : 0, .stated = "", .absolute = {}};
  const auto stated = call.text_at(call.argument(path.index));
  if (!stated || stated->size() >= PATH_MAX) return call.answer(-EFAULT);
  // The file that is open already, or a mistake that the kernel knows.
  if (stated->empty()) return kind.what == CallKind::look ? void() : call.answer(-ENOENT);
  path.stated = *stated;
  path.absolute =
      files_.known(stated->front() == '/' ? fs::path(*stated)
                                          : files_.known(base_of(call, kind.has_folder)) / *stated);
  switch (kind.what) {
    case CallKind::open:
      return open(call, path, call.argument(path.index + 1));
    case CallKind::create:
      return open(call, path, O_CREAT | O_WRONLY | O_TRUNC);
    case CallKind::look:
      return look(call, path);
    case CallKind::enter:
      return enter(call, path);
    case CallKind::make_folder:
      return make_folder(call, path);
    default:
      files_.remove(path.absolute);
      return call.answer(0);
  }
}

void PathCalls::open(StoppedCall& call, const Path& path, std::uint64_t flags) {
  const std::string name = path.absolute.string();
  if (!writes(flags)) return open_to_read(call, path, (flags & O_CLOEXEC) == 0);
  if ((flags & kNameless) != 0) return call.answer(-EOPNOTSUPP);
  // What is printed is not looked at.
  if (name == kNothing || name == "/dev/stdout" || name == "/dev/stderr" || is_own_pipe(name))
    return send_to(call, path.index, kNothing);
  if (name.starts_with("/dev/")) return call.answer(-ENXIO);
  const fs::path copy = files_.copy(path.absolute, (flags & O_TRUNC) == 0);
  if (copy.empty()) return call.answer(-EISDIR);
  send_to(call, path.index, copy);
}

/// A shell opens what it sources so that programs would have it, too; libraries close theirs.
void PathCalls::open_to_read(StoppedCall& call, const Path& path, bool is_for_shell) {
  const std::string name = path.absolute.string();
  if (is_own_pipe(name)) return send_to(call, path.index, path.absolute);
  const bool is_read_by_shell = is_for_shell && is_shell(call.process());
  const fs::path found = files_.found(path.absolute, path.stated);
  if (found.empty()) {
    if (!is_read_by_shell && !is_of_system(name)) absent_.push_back(path.stated);
    if (!is_read_by_shell) return send_to(call, path.index, path.absolute);
    missing_.push_back(path.stated);
    return send_to(call, path.index, files_.own("empty"));
  }
  std::error_code none;
  const auto type = fs::status(found, none).type();
  const bool is_device = std::ranges::find(kDevices, name) != std::end(kDevices);
  if (type != fs::file_type::regular && type != fs::file_type::directory && !is_device)
    return call.answer(-EACCES);
  if (is_read_by_shell && type == fs::file_type::regular) read_.push_back(found.string());
  send_to(call, path.index, found);
}

void PathCalls::look(StoppedCall& call, const Path& path) {
  const fs::path found = files_.found(path.absolute, path.stated);
  if (!found.empty() && found != path.stated) send_to(call, path.index, found);
}

/// A script may enter folders of another machine; it stands in an empty one then.
void PathCalls::enter(StoppedCall& call, const Path& path) {
  fs::path found = files_.found(path.absolute, path.stated);
  if (found.empty()) found = files_.folder(path.absolute);
  if (found.empty()) return call.answer(-ENOENT);
  send_to(call, path.index, found);
}

void PathCalls::make_folder(StoppedCall& call, const Path& path) {
  if (!files_.found(path.absolute, path.stated).empty()) return call.answer(-EEXIST);
  call.answer(files_.folder(path.absolute).empty() ? -ENOSPC : 0);
}

}  // namespace stepsim
