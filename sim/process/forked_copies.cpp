// fork, pipes and poll.
#include "sim/process/forked_copies.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/error.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

using Clock = std::chrono::steady_clock;

/// What a copy writes: how it ended in one letter, then its text.
std::string said(Ending how, const std::string& text) {
  return std::string(1, static_cast<char>('a' + static_cast<int>(how))) + text;
}

std::string answer_of(const std::function<std::string(std::int64_t)>& work, std::int64_t index) {
  try {
    return said(Ending::result, work(index));
  } catch (const UserError& error) {
    return said(Ending::user_error, error.what());
  } catch (const SimulationError& error) {
    return said(Ending::simulation_error, error.what());
  } catch (const IoError& error) {
    return said(Ending::io_error, error.what());
  } catch (const std::bad_alloc&) {
    return said(Ending::out_of_memory, "");
  } catch (const std::exception& error) {
    return said(Ending::internal_error, error.what());
  } catch (...) {
    return said(Ending::internal_error, "something was thrown that is no std::exception");
  }
}

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return;
    done += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
}

/// The address space of this process: what its mappings reach, used or not.
double address_space_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

int answers_to = -1;  ///< the pipe of a copy whose memory is limited

/// SimGrid aborts, or runs into a null pointer, where it gets no memory for a stack. Where a
/// mapping of that size is not to be had, that is what happened.
void on_crash(int signal) {
  constexpr std::size_t kStack = 8 << 20;
  void* room = mmap(nullptr, kStack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) {
    const char letter = static_cast<char>('a' + static_cast<int>(Ending::out_of_memory));
    [[maybe_unused]] const ssize_t written = write(answers_to, &letter, 1);
    _exit(0);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void limit_memory(double bytes, int pipe) {
  if (answers_to >= 0) answers_to = pipe;  // a copy of a copy has its memory, and another listener
  if (bytes <= 0) return;
  answers_to = pipe;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS}) std::signal(signal, on_crash);
  // What a copy says of its own end is no news: the reason is printed with the point.
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDERR_FILENO);
  const auto most = static_cast<rlim_t>(address_space_bytes() + bytes);
  rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
}

/// Nobody would hear a copy whose process was killed.
void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent was killed before
}

std::string crash_text(int signal) {
  if (signal == 0) return "a process ended without an answer";
  const char* hint = signal == SIGKILL ? ", as by a machine that is out of memory" : "";
  return fmt::format("a process ended by signal {} ({}){}", signal, strsignal(signal), hint);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

ForkedCopies::ForkedCopies(const InterruptNoted& noted, const ForkLimits& limits,
                           const std::function<std::string(std::int64_t)>& work,
                           const std::function<void(Ended)>& on_end)
    : noted_(noted), limits_(limits), work_(work), on_end_(on_end) {}

ForkedCopies::~ForkedCopies() {
  for (const Copy& copy : copies_) end(copy);
}

void ForkedCopies::start(std::int64_t index) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw IoError(fmt::format("pipe: {}", std::strerror(errno)));
  const pid_t parent = getpid(), process = fork();
  if (process < 0) throw IoError(fmt::format("fork: {}", std::strerror(errno)));
  if (process == 0) {
    die_with(parent);
    noted_.restore();
    for (const Copy& other : copies_) close(other.pipe);
    close(ends[0]);
    limit_memory(limits_.bytes, ends[1]);
    write_all(ends[1], answer_of(work_, index));
    _exit(0);
  }
  close(ends[1]);
  copies_.push_back({index, process, ends[0], "", Clock::now()});
}

void ForkedCopies::listen(std::chrono::milliseconds most) {
  hear_all(time_left_ms(most));
  end_late_ones();
}

void ForkedCopies::drain() {
  while (!copies_.empty() && hear_all(0) > 0) continue;
}

/// Until the first copy is out of time, and no longer than that.
int ForkedCopies::time_left_ms(std::chrono::milliseconds most) const {
  double least = static_cast<double>(most.count());
  for (const Copy& copy : copies_) {
    if (limits_.seconds > 0)
      least = std::min(least, (limits_.seconds - seconds_since(copy.begin)) * 1e3 + 1);
  }
  return static_cast<int>(std::clamp(least, 0.0, 1e9));
}

void ForkedCopies::end_late_ones() {
  for (std::size_t i = copies_.size(); limits_.seconds > 0 && i-- > 0;) {
    if (seconds_since(copies_[i].begin) < limits_.seconds) continue;
    end(copies_[i]);
    leave(i, Ending::timed_out, fmt::format("longer than {:g} s", limits_.seconds));
  }
}

/// Hears all who have something to say, within that time; how many they were.
int ForkedCopies::hear_all(int milliseconds) {
  std::vector<pollfd> pipes;
  for (const Copy& copy : copies_) pipes.push_back({copy.pipe, POLLIN, 0});
  const int ready = poll(pipes.data(), pipes.size(), milliseconds);
  if (ready < 0 && errno != EINTR) throw IoError(fmt::format("poll: {}", std::strerror(errno)));
  for (std::size_t i = pipes.size(); ready > 0 && i-- > 0;) {
    if (pipes[i].revents != 0) hear(i);
  }
  return ready;
}

void ForkedCopies::hear(std::size_t i) {
  std::array<char, 1 << 16> buffer{};
  const ssize_t got = read(copies_[i].pipe, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return;
  if (got > 0) {
    copies_[i].said.append(buffer.data(), static_cast<std::size_t>(got));
    return;
  }
  int status = 0;
  waitpid(copies_[i].process, &status, 0);
  close(copies_[i].pipe);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {  // given up, and so is all
    InterruptNoted::note(signal);
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
  } else if (copies_[i].said.empty() || signal != 0) {
    leave(i, Ending::crashed, crash_text(signal));
  } else {
    const auto how = static_cast<Ending>(copies_[i].said.front() - 'a');
    leave(i, how, how == Ending::out_of_memory ? memory_text() : copies_[i].said.substr(1));
  }
}

std::string ForkedCopies::memory_text() const {
  if (limits_.bytes <= 0) return "the machine has no more memory";
  return fmt::format("more than {} of memory", humanise(Bytes{limits_.bytes}).text());
}

void ForkedCopies::leave(std::size_t i, Ending how, std::string text) {
  Ended ended{copies_[i].index, how, std::move(text)};
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
  on_end_(std::move(ended));
}

void ForkedCopies::end(const Copy& copy) {
  kill(copy.process, SIGKILL);
  waitpid(copy.process, nullptr, 0);
  close(copy.pipe);
}

}  // namespace stepsim
