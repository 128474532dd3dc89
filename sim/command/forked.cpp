// fork, pipes and poll.
#include "sim/command/forked.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

/// What the first byte of an answer says about the rest.
enum class Answer : char { result = 'r', user = 'u', simulation = 's', io = 'i', internal = 'x' };

volatile std::sig_atomic_t interrupted = 0;
void note_interrupt(int) { interrupted = 1; }

/// While it lives Ctrl-C is noted instead of ending the process.
class InterruptNoted {
 public:
  InterruptNoted() {
    interrupted = 0;
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler == SIG_IGN) return;  // a job in the background
    struct sigaction action {};
    action.sa_handler = note_interrupt;  // without SA_RESTART: poll returns
    sigaction(SIGINT, &action, nullptr);
  }
  ~InterruptNoted() { sigaction(SIGINT, &before_, nullptr); }
  InterruptNoted(const InterruptNoted&) = delete;
  InterruptNoted& operator=(const InterruptNoted&) = delete;
  const struct sigaction& before() const { return before_; }

 private:
  struct sigaction before_ {};
};

std::string answer_of(const std::function<std::string(int)>& work, int index) {
  const auto tagged = [](Answer kind, const std::string& text) {
    return std::string(1, static_cast<char>(kind)) + text;
  };
  try {
    return tagged(Answer::result, work(index));
  } catch (const UserError& error) {
    return tagged(Answer::user, error.what());
  } catch (const SimulationError& error) {
    return tagged(Answer::simulation, error.what());
  } catch (const IoError& error) {
    return tagged(Answer::io, error.what());
  } catch (const std::exception& error) {
    return tagged(Answer::internal, error.what());
  }
}

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return;
    done += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
}

std::string result_of(const std::string& answer) {
  const std::string text = answer.substr(std::min<std::size_t>(1, answer.size()));
  switch (answer.empty() ? Answer::internal : static_cast<Answer>(answer.front())) {
    case Answer::result:
      return text;
    case Answer::user:
      throw UserError(text);
    case Answer::simulation:
      throw SimulationError(text);
    case Answer::io:
      throw IoError(text);
    case Answer::internal:
      break;
  }
  throw InternalError(text.empty() ? "a process ended without an answer" : text);
}

/// The copies that run, and what they have said so far.
class Copies {
 public:
  Copies(int count, const std::function<std::string(int)>& work)
      : work_(work), answers_(static_cast<std::size_t>(count)) {}
  ~Copies() { end_all(); }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  std::size_t running() const { return copies_.size(); }

  void start(int index, const struct sigaction& on_interrupt) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw IoError(fmt::format("pipe: {}", std::strerror(errno)));
    const pid_t process = fork();
    if (process < 0) throw IoError(fmt::format("fork: {}", std::strerror(errno)));
    if (process == 0) {
      sigaction(SIGINT, &on_interrupt, nullptr);
      for (const Copy& other : copies_) close(other.pipe);
      close(ends[0]);
      write_all(ends[1], answer_of(work_, index));
      _exit(0);
    }
    close(ends[1]);
    copies_.push_back({index, process, ends[0], ""});
  }

  /// Waits until one of them says something, or until Ctrl-C; false after that.
  bool listen() {
    hear_all(-1);
    return interrupted == 0;
  }

  int ended() const { return ended_; }

  /// What has been said so far; ends those that are not done.
  const std::vector<std::optional<std::string>>& answers() {
    while (!copies_.empty() && hear_all(0) > 0) continue;
    end_all();
    return answers_;
  }

 private:
  struct Copy {
    int index;
    pid_t process;
    int pipe;
    std::string said;
  };

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
    // One that Ctrl-C ended has no answer; one that ended in another way has an empty one.
    const bool ended_early = WIFSIGNALED(status) && WTERMSIG(status) == SIGINT;
    if (!ended_early) answers_[static_cast<std::size_t>(copies_[i].index)] = copies_[i].said;
    ++ended_;
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  void end_all() {
    for (const Copy& copy : copies_) {
      kill(copy.process, SIGKILL);
      waitpid(copy.process, nullptr, 0);
      close(copy.pipe);
    }
    copies_.clear();
  }

  const std::function<std::string(int)>& work_;
  std::vector<std::optional<std::string>> answers_;
  std::vector<Copy> copies_;
  int ended_ = 0;
};

std::vector<std::optional<std::string>> answers_of(int count, int jobs,
                                                   const std::function<std::string(int)>& work,
                                                   const std::function<void(int)>& on_end) {
  const InterruptNoted noted;
  Copies copies(count, work);
  int next = 0;
  bool goes_on = true;
  do {
    while (next < count && copies.running() < static_cast<std::size_t>(std::max(jobs, 1)))
      copies.start(next++, noted.before());
    const int ended = copies.ended();
    goes_on = copies.running() > 0 && copies.listen();
    if (on_end && copies.ended() > ended) on_end(copies.ended());
  } while (goes_on);
  return copies.answers();
}

}  // namespace

std::vector<std::optional<std::string>> run_forked(int count, int jobs,
                                                   const std::function<std::string(int)>& work) {
  std::vector<std::optional<std::string>> results;
  for (const auto& answer : answers_of(count, jobs, work, {}))
    results.push_back(answer ? std::optional(result_of(*answer)) : std::nullopt);
  return results;
}

std::vector<Forked> try_forked(int count, int jobs, const std::function<std::string(int)>& work,
                               const std::function<void(int)>& on_end) {
  std::vector<Forked> all;
  for (const auto& answer : answers_of(count, jobs, work, on_end)) {
    Forked one{.is_done = answer.has_value()};
    try {
      if (answer) one.result = result_of(*answer);
    } catch (const std::exception& error) {
      one.error = error.what();
    }
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
