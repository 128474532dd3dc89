// fork, exec, and a clock.
#include "sim/command/child.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

constexpr int kCannotStart = 127;
constexpr std::chrono::milliseconds kLook{20};
/// For a program to end by itself after SIGTERM.
constexpr std::chrono::seconds kGrace{3};

using Clock = std::chrono::steady_clock;

/// Only calls that are safe between fork and exec. What it prints goes to the file `out`.
[[noreturn]] void become(char* const* words, int out) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // Ctrl-C ends both
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  execvp(words[0], words);
  _exit(kCannotStart);
}

pid_t start(const std::vector<std::string>& words, int out) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0)
    throw SimulationError(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
  if (child == 0) become(arguments.data(), out);
  return child;
}

/// Whether it ended before the date; `status` is set then.
bool ends_before(pid_t child, Clock::time_point date, int& status) {
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return true;
    if (Clock::now() >= date) return false;
    std::this_thread::sleep_for(kLook);
  }
}

/// mpirun ends those that it started.
void end(pid_t child, int& status) {
  kill(child, SIGTERM);
  if (ends_before(child, Clock::now() + kGrace, status)) return;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
}

/// Its exit code, before the date.
int end_of(pid_t child, const std::string& program, Clock::time_point date, double limit_s) {
  int status = 0;
  if (!ends_before(child, date, status)) {
    end(child, status);
    throw SimulationError(fmt::format("{} did not end within {:.0f} s", program, limit_s));
  }
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  if (WEXITSTATUS(status) == kCannotStart)
    throw SimulationError(fmt::format("{} cannot be started", program));
  return WEXITSTATUS(status);
}

Clock::time_point date_in(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// What comes through the pipe until its other end is closed, or that date.
std::string read_until(int pipe, Clock::time_point date) {
  std::string text;
  std::array<char, 4096> part = {};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(date - Clock::now());
    pollfd end{.fd = pipe, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&end, 1, static_cast<int>(left.count())) == 0) return text;
    const ssize_t count = read(pipe, part.data(), part.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

int run_child(const std::vector<std::string>& words, const std::vector<std::string>& variables,
              double limit_s) {
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
  const pid_t child = start(words, STDERR_FILENO);
  return end_of(child, words[0], date_in(limit_s), limit_s);
}

ChildOutput output_of_child(const std::vector<std::string>& words, double limit_s) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw SimulationError(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
  const Clock::time_point date = date_in(limit_s);
  const pid_t child = start(words, ends[1]);
  close(ends[1]);
  ChildOutput output;
  output.text = read_until(ends[0], date);
  close(ends[0]);
  output.code = end_of(child, words[0], date, limit_s);
  return output;
}

std::string find_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

}  // namespace stepsim
