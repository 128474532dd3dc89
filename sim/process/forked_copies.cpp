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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/error.hpp"
#include "sim/core/system/module.hpp"
#include "sim/process/out_of_memory.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

using Clock = std::chrono::steady_clock;

// KiB. Filling so much takes a tenth of a second, and what did takes longer: a fork no longer counts.
constexpr long kMostKept = 512 * 1024;

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

/// Whether a copy with that answer may go on: a piece that failed may have left anything, SimGrid's
/// clock goes on, and memory that a large piece has filled stays with its process.
bool is_fit_for_more(const std::string& answer) {
  const char how = answer.front();
  const bool ended_well =
      how == said(Ending::result, "").front() || how == said(Ending::user_error, "").front();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return ended_well && !is_module_loaded("simgrid") && usage.ru_maxrss < kMostKept;
}

/// False where nobody listens.
bool send_all(int line, const void* data, std::size_t size) {
  const char* const bytes = static_cast<const char*>(data);
  for (std::size_t done = 0; done < size;) {
    const ssize_t sent = send(line, bytes + done, size - done, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    done += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
  }
  return true;
}

/// Nothing where the caller has no more.
std::optional<std::int64_t> next_piece(int line) {
  std::int64_t index = 0;
  auto* const bytes = reinterpret_cast<char*>(&index);
  for (std::size_t done = 0; done < sizeof index;) {
    const ssize_t got = read(line, bytes + done, sizeof index - done);
    if (got == 0 || (got < 0 && errno != EINTR)) return std::nullopt;
    done += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  return index;
}

/// What stands in front of an answer.
struct Header {
  std::uint64_t length = 0;
  std::uint64_t stays = 0;  // 1: the copy waits for another piece
  double seconds = 0;       // that the piece took
};

bool send_answer(int line, const std::string& answer, bool stays, double seconds) {
  const Header header{answer.size(), stays ? 1U : 0U, seconds};
  return send_all(line, &header, sizeof header) && send_all(line, answer.data(), answer.size());
}

/// The header of what a copy has said, once its answer is whole.
std::optional<Header> whole_answer(const std::string& said) {
  Header header;
  if (said.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, said.data(), sizeof header);
  if (said.size() - sizeof header < header.length) return std::nullopt;
  return header;
}

/// The address space of this process: what its mappings reach, used or not.
double address_space_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

int answers_to = -1;  ///< the line of a copy

/// SimGrid aborts, or runs into a null pointer, where it gets no memory for a stack.
void on_crash(int signal) {
  if (is_out_of_memory()) {
    constexpr Header kHeader{1, 0, 0};
    const char letter = static_cast<char>('a' + static_cast<int>(Ending::out_of_memory));
    if (send_all(answers_to, &kHeader, sizeof kHeader)) send_all(answers_to, &letter, 1);
    _exit(0);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void limit_memory(double bytes, int line) {
  answers_to = line;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS}) std::signal(signal, on_crash);
  if (bytes <= 0) return;
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

std::size_t ForkedCopies::running() const {
  return static_cast<std::size_t>(std::ranges::count(copies_, State::works, &Copy::state));
}

void ForkedCopies::start(std::int64_t index) {
  if (give_to_one_that_waits(index)) return;
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw IoError(fmt::format("socketpair: {}", std::strerror(errno)));
  const pid_t parent = getpid(), process = fork();
  if (process < 0) throw IoError(fmt::format("fork: {}", std::strerror(errno)));
  if (process == 0) {
    die_with(parent);
    noted_.restore();
    for (const Copy& other : copies_) close(other.line);
    close(ends[0]);
    limit_memory(limits_.bytes, ends[1]);
    work_on(index, ends[1]);
  }
  close(ends[1]);
  copies_.push_back({index, State::works, process, ends[0], "", Clock::now()});
}

/// One that has died meanwhile is noticed when it is listened to.
bool ForkedCopies::give_to_one_that_waits(std::int64_t index) {
  for (Copy& copy : copies_) {
    if (copy.state != State::waits || !send_all(copy.line, &index, sizeof index)) continue;
    copy.index = index;
    copy.state = State::works;
    copy.begin = Clock::now();
    return true;
  }
  return false;
}

/// What a copy does, from its start to its end.
void ForkedCopies::work_on(std::int64_t index, int line) {
  for (std::optional<std::int64_t> next = index; next;) {
    const auto begin = Clock::now();
    const std::string answer = answer_of(work_, *next);
    const bool stays = keeps_copies() && is_fit_for_more(answer);
    const bool is_heard = send_answer(line, answer, stays, seconds_since(begin));
    next = is_heard && stays ? next_piece(line) : std::nullopt;
  }
  _exit(0);
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
    if (limits_.seconds > 0 && copy.state == State::works)
      least = std::min(least, (limits_.seconds - seconds_since(copy.begin)) * 1e3 + 1);
  }
  return static_cast<int>(std::clamp(least, 0.0, 1e9));
}

void ForkedCopies::end_late_ones() {
  for (std::size_t i = copies_.size(); limits_.seconds > 0 && i-- > 0;) {
    if (copies_[i].state != State::works || seconds_since(copies_[i].begin) < limits_.seconds)
      continue;
    end(copies_[i]);
    leave(i, Ending::timed_out, late_text());
  }
}

/// Hears all who have something to say, within that time; how many they were.
int ForkedCopies::hear_all(int milliseconds) {
  std::vector<pollfd> lines;
  for (const Copy& copy : copies_) lines.push_back({copy.line, POLLIN, 0});
  const int ready = poll(lines.data(), lines.size(), milliseconds);
  if (ready < 0 && errno != EINTR) throw IoError(fmt::format("poll: {}", std::strerror(errno)));
  for (std::size_t i = lines.size(); ready > 0 && i-- > 0;) {
    if (lines[i].revents != 0) hear(i);
  }
  return ready;
}

void ForkedCopies::hear(std::size_t i) {
  std::array<char, 1 << 16> buffer{};
  const ssize_t got = read(copies_[i].line, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) return hear_end(i);
  Copy& copy = copies_[i];
  copy.said.append(buffer.data(), static_cast<std::size_t>(got));
  const auto header = whole_answer(copy.said);
  if (!header) return;
  copy.state = header->stays != 0 ? State::waits : State::leaves;
  const std::string answer = copy.said.substr(sizeof(Header));
  copy.said.clear();
  // An answer may come before anybody has looked whether it is late.
  if (limits_.seconds > 0 && header->seconds >= limits_.seconds)
    return on_end_({copy.index, Ending::timed_out, late_text()});
  const auto how = static_cast<Ending>(answer.front() - 'a');
  on_end_({copy.index, how, how == Ending::out_of_memory ? memory_text() : answer.substr(1)});
}

void ForkedCopies::hear_end(std::size_t i) {
  int status = 0;
  waitpid(copies_[i].process, &status, 0);
  close(copies_[i].line);
  const Copy copy = std::move(copies_[i]);
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {  // given up, and so is all
    InterruptNoted::note(signal);
  } else if (copy.state == State::works) {
    on_end_({copy.index, Ending::crashed, crash_text(signal)});
  }
}

std::string ForkedCopies::late_text() const {
  return fmt::format("longer than {:g} s", limits_.seconds);
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
  close(copy.line);
}

}  // namespace stepsim
