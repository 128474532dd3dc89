// fork, pipes and poll.
#include "sim/command/forked.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;
void note_interrupt(int) { interrupted = 1; }

/// While it lives Ctrl-C and SIGTERM are noted instead of ending the process.
class InterruptNoted {
 public:
  InterruptNoted() {
    interrupted = 0;
    note(SIGINT, on_interrupt_);
    note(SIGTERM, on_terminate_);
  }
  ~InterruptNoted() { restore(); }
  InterruptNoted(const InterruptNoted&) = delete;
  InterruptNoted& operator=(const InterruptNoted&) = delete;
  void restore() const {
    sigaction(SIGINT, &on_interrupt_, nullptr);
    sigaction(SIGTERM, &on_terminate_, nullptr);
  }

 private:
  static void note(int signal, struct sigaction& before) {
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) return;  // a job in the background
    struct sigaction action {};
    action.sa_handler = note_interrupt;  // without SA_RESTART: poll returns
    sigaction(signal, &action, nullptr);
  }

  struct sigaction on_interrupt_ {};
  struct sigaction on_terminate_ {};
};

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
  }
}

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return;
    done += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
}

/// Of this process: what its mappings reach, used or not.
double address_space_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void limit_memory(double bytes) {
  if (bytes <= 0) return;
  const auto most = static_cast<rlim_t>(address_space_bytes() + bytes);
  rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
}

/// The copies that run, and what they have said so far.
class Copies {
 public:
  Copies(const ForkLimits& limits, const std::function<std::string(std::int64_t)>& work,
         const std::function<void(Ended)>& on_end)
      : limits_(limits), work_(work), on_end_(on_end) {}
  ~Copies() {
    for (const Copy& copy : copies_) end(copy);
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  std::size_t running() const { return copies_.size(); }

  void start(std::int64_t index, const InterruptNoted& noted) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw IoError(fmt::format("pipe: {}", std::strerror(errno)));
    const pid_t process = fork();
    if (process < 0) throw IoError(fmt::format("fork: {}", std::strerror(errno)));
    if (process == 0) {
      noted.restore();
      for (const Copy& other : copies_) close(other.pipe);
      close(ends[0]);
      limit_memory(limits_.bytes);
      write_all(ends[1], answer_of(work_, index));
      _exit(0);
    }
    close(ends[1]);
    copies_.push_back({index, process, ends[0], "", Clock::now()});
  }

  /// Waits until one of them says something or is out of time, or until Ctrl-C; false after that.
  bool listen() {
    hear_all(time_left_ms());
    end_late_ones();
    return interrupted == 0;
  }

  /// Hears what has been said so far.
  void drain() {
    while (!copies_.empty() && hear_all(0) > 0) continue;
  }

 private:
  struct Copy {
    std::int64_t index;
    pid_t process;
    int pipe;
    std::string said;
    Clock::time_point begin;
  };

  /// Until the first copy is out of time; -1: there is no hurry.
  int time_left_ms() const {
    if (limits_.seconds <= 0) return -1;
    double least = limits_.seconds;
    for (const Copy& copy : copies_) least = std::min(least, limits_.seconds - age_of(copy));
    return static_cast<int>(std::clamp(least * 1e3 + 1, 0.0, 1e9));
  }

  static double age_of(const Copy& copy) {
    return std::chrono::duration<double>(Clock::now() - copy.begin).count();
  }

  void end_late_ones() {
    for (std::size_t i = copies_.size(); limits_.seconds > 0 && i-- > 0;) {
      if (age_of(copies_[i]) < limits_.seconds) continue;
      end(copies_[i]);
      leave(i, Ending::timed_out, fmt::format("longer than {:g} s", limits_.seconds));
    }
  }

  /// Hears all who have something to say, within that time; how many they were.
  int hear_all(int milliseconds) {
    std::vector<pollfd> pipes;
    for (const Copy& copy : copies_) pipes.push_back({copy.pipe, POLLIN, 0});
    const int ready = poll(pipes.data(), pipes.size(), milliseconds);
    if (ready < 0 && errno != EINTR) throw IoError(fmt::format("poll: {}", std::strerror(errno)));
    for (std::size_t i = pipes.size(); ready > 0 && i-- > 0;) {
      if (pipes[i].revents != 0) hear(i);
    }
    return ready;
  }

  void hear(std::size_t i) {
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
    if (signal == SIGINT || signal == SIGTERM) {  // given up
      copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (copies_[i].said.empty() || signal != 0) {
      leave(i, Ending::crashed, crash_text(signal));
    } else {
      const auto how = static_cast<Ending>(copies_[i].said.front() - 'a');
      leave(i, how, how == Ending::out_of_memory ? memory_text() : copies_[i].said.substr(1));
    }
  }

  static std::string crash_text(int signal) {
    if (signal == 0) return "a process ended without an answer";
    const char* hint = signal == SIGKILL ? ", as by a machine that is out of memory" : "";
    return fmt::format("a process ended by signal {} ({}){}", signal, strsignal(signal), hint);
  }

  std::string memory_text() const {
    if (limits_.bytes <= 0) return "the machine has no more memory";
    return fmt::format("more than {:.0f} MB of memory", limits_.bytes / 1e6);
  }

  void leave(std::size_t i, Ending how, std::string text) {
    Ended ended{copies_[i].index, how, std::move(text)};
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
    on_end_(std::move(ended));
  }

  static void end(const Copy& copy) {
    kill(copy.process, SIGKILL);
    waitpid(copy.process, nullptr, 0);
    close(copy.pipe);
  }

  const ForkLimits& limits_;
  const std::function<std::string(std::int64_t)>& work_;
  const std::function<void(Ended)>& on_end_;
  std::vector<Copy> copies_;
};

/// 0 to count - 1.
std::function<std::optional<std::int64_t>()> counting(int count) {
  return [count, next = 0]() mutable {
    return next < count ? std::optional<std::int64_t>(next++) : std::nullopt;
  };
}

[[noreturn]] void throw_error(const Ended& ended) {
  switch (ended.how) {
    case Ending::user_error:
      throw UserError(ended.text);
    case Ending::simulation_error:
      throw SimulationError(ended.text);
    case Ending::io_error:
      throw IoError(ended.text);
    default:
      throw InternalError(ended.text);
  }
}

std::vector<std::optional<Ended>> all_ended(int count, int jobs,
                                            const std::function<std::string(int)>& work,
                                            const std::function<void(int)>& on_end) {
  std::vector<std::optional<Ended>> all(static_cast<std::size_t>(count));
  int done = 0;
  stream_forked(
      counting(count), jobs, {}, [&](std::int64_t i) { return work(static_cast<int>(i)); },
      [&](Ended ended) {
        all[static_cast<std::size_t>(ended.index)] = std::move(ended);
        ++done;
        if (on_end) on_end(done);
      });
  return all;
}

}  // namespace

bool stream_forked(const std::function<std::optional<std::int64_t>()>& next, int jobs,
                   const ForkLimits& limits, const std::function<std::string(std::int64_t)>& work,
                   const std::function<void(Ended)>& on_end) {
  const InterruptNoted noted;
  Copies copies(limits, work, on_end);
  const auto at_a_time = static_cast<std::size_t>(std::max(jobs, 1));
  bool goes_on = true, has_more = true;
  while (goes_on) {
    while (has_more && copies.running() < at_a_time) {
      const auto index = next();
      has_more = index.has_value();
      if (index) copies.start(*index, noted);
    }
    if (copies.running() == 0) return true;
    goes_on = copies.listen();
  }
  copies.drain();
  return false;
}

std::vector<std::optional<std::string>> run_forked(int count, int jobs,
                                                   const std::function<std::string(int)>& work) {
  std::vector<std::optional<std::string>> results;
  for (const auto& ended : all_ended(count, jobs, work, {})) {
    if (ended && ended->how != Ending::result) throw_error(*ended);
    results.push_back(ended ? std::optional(ended->text) : std::nullopt);
  }
  return results;
}

std::vector<Forked> try_forked(int count, int jobs, const std::function<std::string(int)>& work,
                               const std::function<void(int)>& on_end) {
  std::vector<Forked> all;
  for (const auto& ended : all_ended(count, jobs, work, on_end)) {
    Forked one{.is_done = ended.has_value()};
    if (ended) (ended->how == Ending::result ? one.result : one.error) = ended->text;
    all.push_back(std::move(one));
  }
  return all;
}

std::string text_of(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) text += fmt::format("{} ", number);
  return text;
}

std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end; ++at) {
    double number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ptr == at) throw InternalError("a copy of this process answered '" + text + "'");
    numbers.push_back(number);
    at = read.ptr;
  }
  return numbers;
}

}  // namespace stepsim
