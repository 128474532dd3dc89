// The watch: waits until one of the processes stops or ends, and answers it (ptrace(2)).
#include "sim/process/watched/watched_run.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/system/files_read.hpp"
#include "sim/process/watched/call_filter.hpp"
#include "sim/process/watched/path_calls.hpp"
#include "sim/text/scratch_folder.hpp"

namespace stepsim {
namespace {

using Clock = std::chrono::steady_clock;
using How = WatchedEnd::How;

constexpr int kCannotWatch = 126;
/// For what runs in the background when the program ends.
constexpr std::chrono::milliseconds kAfterwards{500};
/// How often the watch looks at the clock while nothing happens.
constexpr timeval kLook{.tv_sec = 0, .tv_usec = 50'000};

Clock::duration duration_of(Seconds time) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time.seconds()));
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Signals wake the watch; one every `kLook` is enough.
class Ticks {
 public:
  Ticks() {
    struct sigaction wake {};
    wake.sa_handler = [](int) {};
    sigaction(SIGALRM, &wake, &before_);
    const itimerval often{.it_interval = kLook, .it_value = kLook};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Ticks() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Ticks(const Ticks&) = delete;
  Ticks& operator=(const Ticks&) = delete;

 private:
  struct sigaction before_ {};
};

void limit(__rlimit_resource which, std::uint64_t most) {
  const rlimit both{most, most};
  setrlimit(which, &both);
}

/// What the new process is, prepared before the fork.
struct Prepared {
  std::vector<sock_filter> filter = call_filter();
  std::vector<char*> words, environment;
  const char *path, *folder, *errors;
};

/// Becomes the program, by calls that are safe between fork and exec alone.
[[noreturn]] void become(const Prepared& program, const WatchLimits& limits) {
  setsid();  // no terminal is its own
  // A watcher that ends before it watches would leave it stopped for ever.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDWR), errors = open(program.errors, O_WRONLY | O_APPEND);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  syscall(__NR_close_range, STDERR_FILENO + 1, ~0U, 0);
  limit(RLIMIT_AS, limits.memory);
  limit(RLIMIT_FSIZE, limits.file);
  limit(RLIMIT_CORE, 0);
  // The watch ends it by the clock. This is for where the watch is killed, and lies far behind, for
  // CPU time of a virtual machine may run ahead of its clock.
  limit(RLIMIT_CPU, 4 * static_cast<std::uint64_t>(limits.wall.seconds()) + 1);
  const bool is_there = chdir(program.folder) == 0;
  if (!is_there || ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(kCannotWatch);
  raise(SIGSTOP);
  if (!install(program.filter)) _exit(kCannotWatch);
  execve(program.path, program.words.data(), program.environment.data());
  _exit(kCannotWatch);
}

class Watch {
 public:
  Watch(const WatchLimits& limits, PathCalls& paths, const OnStart& on_start, const OnFork& on_fork)
      : limits_(limits), paths_(paths), on_start_(on_start), on_fork_(on_fork) {}

  /// Watches the process, which has stopped itself, and those that come of it, to the last.
  void follow(pid_t first) {
    first_ = first;
    alive_.insert(first);
    int status = 0;
    waitpid(first, &status, __WALL);
    if (!WIFSTOPPED(status)) return ended(first, status);
    constexpr int options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
                            PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
    ptrace(PTRACE_SETOPTIONS, first, 0, options);
    ptrace(PTRACE_CONT, first, 0, 0);
    const Ticks ticks;
    while (!alive_.empty() && step()) {
    }
  }

  How how() const { return how_; }
  int code() const { return code_; }

 private:
  /// Returns false when no process is left.
  bool step() {
    if (Clock::now() > until_) end_all(has_ended_ ? How::by_itself : How::out_of_time);
    int status = 0;
    const pid_t process = waitpid(-1, &status, __WALL);
    if (process < 0) return errno == EINTR;
    if (WIFSTOPPED(status)) {
      stopped(process, status);
    } else {
      ended(process, status);
    }
    return true;
  }

  void ended(pid_t process, int status) {
    alive_.erase(process);
    if (unannounced_.erase(process) > 0) gone_.insert(process);
    if (process != first_) return;
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    has_ended_ = true;
    if (code_ == kCannotWatch && !has_begun_) how_ = How::not_started;
    until_ = std::min(until_, Clock::now() + kAfterwards);
  }

  void stopped(pid_t process, int status) {
    const bool is_new = alive_.insert(process).second;
    if (is_new) unannounced_.insert(process);
    if (is_ending_) {
      kill(process, SIGKILL);
      return;
    }
    const int event = status >> 16, signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_SECCOMP) handle_call(process);
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE)
      forked(process);
    // The kernel's own stop of a new process is none of its signals.
    const bool is_signal = event == 0 && !(signal == SIGSTOP && (is_new || fresh_.erase(process)));
    ptrace(PTRACE_CONT, process, 0, is_signal ? signal : 0);
  }

  void forked(pid_t process) {
    unsigned long copy = 0;
    ptrace(PTRACE_GETEVENTMSG, process, 0, &copy);
    on_fork_(process, static_cast<int>(copy));
    // It may have stopped before its parent did, and on a busy machine have ended, too.
    unannounced_.erase(static_cast<pid_t>(copy));
    if (gone_.erase(static_cast<pid_t>(copy)) > 0) return;
    if (alive_.insert(static_cast<pid_t>(copy)).second) fresh_.insert(static_cast<pid_t>(copy));
    if (static_cast<int>(alive_.size()) > limits_.processes) end_all(How::too_many_processes);
  }

  void handle_call(pid_t process) {
    StoppedCall call(process);
    if (call.number() != __NR_execve) return paths_.handle(call);
    if (!std::exchange(has_begun_, true)) return;
    const auto path = call.text_at(call.argument(0));
    if (!path) return call.answer(-EFAULT);
    const ProgramStart start = on_start_(
        {*path, call.texts_at(call.argument(1)), call.texts_at(call.argument(2))}, process);
    if (!call.replace(0, start.path) || !call.replace(1, start.words)) call.answer(-E2BIG);
  }

  void end_all(How how) {
    if (!is_ending_) how_ = how;
    is_ending_ = true;
    until_ = Clock::time_point::max();
    for (const pid_t process : alive_) kill(process, SIGKILL);
  }

  const WatchLimits& limits_;
  PathCalls& paths_;
  const OnStart& on_start_;
  const OnFork& on_fork_;
  Clock::time_point until_ = Clock::now() + duration_of(limits_.wall);
  std::set<pid_t> alive_, fresh_;
  std::set<pid_t> unannounced_;  ///< stopped before their parents said that they forked them
  std::set<pid_t> gone_;         ///< of these, those that have ended
  pid_t first_ = 0;
  bool has_begun_ = false, has_ended_ = false, is_ending_ = false;
  How how_ = How::by_itself;
  int code_ = 0;
};

std::string text_of_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

WatchedEnd watched_run(const WatchedProgram& program, const std::filesystem::path& scratch,
                       const OnStart& on_start, const OnFork& on_fork) {
  const ScratchFolder own(scratch);
  std::set<std::filesystem::path> programs;
  for (const std::string& name : program.programs)
    programs.insert(std::filesystem::path(kProgramFolder) / name);
  ScratchFiles files(own.path(), {program.others.begin(), program.others.end()}, programs);
  PathCalls paths(files);
  const std::string errors = files.own("errors");
  files.own("script", program.script);
  const Prepared prepared{.words = pointers_to(program.start.words),
                          .environment = pointers_to(program.start.environment),
                          .path = program.start.path.c_str(),
                          .folder = program.folder.c_str(),
                          .errors = errors.c_str()};
  const pid_t process = fork();
  if (process < 0) return {.how = How::not_started};
  if (process == 0) become(prepared, program.limits);
  Watch watch(program.limits, paths, on_start, on_fork);
  watch.follow(process);
  for (const std::string& path : paths.read()) note_read(path);
  return {watch.how(),  watch.code(),    text_of_file(errors),
          paths.read(), paths.missing(), paths.absent()};
}

}  // namespace stepsim
