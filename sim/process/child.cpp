// Starts another program by fork and exec, reads what it prints, and ends it when its time is up.
#include "sim/process/child.hpp"

#include <algorithm>
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

/// Makes this copy of the process the program, by calls that are safe between fork and exec alone.
/// What it prints goes to the file `out`.
[[noreturn]] void become(char* const* words, char* const* variables, int out) {
  signal(SIGXFSZ, SIG_DFL);          // this process alone asks what a write could not
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody would wait for it where this process is killed
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  execvpe(words[0], words, variables);
  _exit(kCannotStart);
}

/// As exec wants them; they last as long as the texts.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// This process's variables, but for those of the same names, and `own`.
std::vector<std::string> environment_with(const std::vector<std::string>& own) {
  std::vector<std::string> all = own;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string text = *variable, name = text.substr(0, text.find('=') + 1);
    if (std::ranges::none_of(own, [&](const std::string& one) { return one.starts_with(name); }))
      all.push_back(text);
  }
  return all;
}

pid_t start(const std::vector<std::string>& words, const std::vector<std::string>& variables,
            int out) {
  const std::vector<std::string> all = environment_with(variables);
  const std::vector<char*> arguments = pointers_to(words), environment = pointers_to(all);
  const pid_t child = fork();
  if (child < 0)
    throw SimulationError(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
  if (child == 0) become(arguments.data(), environment.data(), out);
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

/// The exit code of a child that has to end before the date.
int end_of(pid_t child, const std::string& program, Clock::time_point date, Seconds limit) {
  int status = 0;
  if (!ends_before(child, date, status)) {
    end(child, status);
    throw SimulationError(fmt::format("{} did not end within {:.0f} s", program, limit.seconds()));
  }
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  if (WEXITSTATUS(status) == kCannotStart)
    throw SimulationError(fmt::format("{} cannot be started", program));
  return WEXITSTATUS(status);
}

Clock::time_point date_in(Seconds time) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time.seconds()));
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

ChildOutput output_of_child(const std::vector<std::string>& words, Seconds limit,
                            const std::vector<std::string>& variables) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw SimulationError(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
  const Clock::time_point date = date_in(limit);
  const pid_t child = start(words, variables, ends[1]);
  close(ends[1]);
  ChildOutput output;
  output.text = read_until(ends[0], date);
  close(ends[0]);
  output.code = end_of(child, words[0], date, limit);
  return output;
}

std::string find_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = fmt::format("{}/{}", folder, name);
    if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

}  // namespace stepsim
