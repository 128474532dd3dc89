// fork, exec, and a clock.
#include "sim/command/child.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
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

/// Only calls that are safe between fork and exec.
[[noreturn]] void become(char* const* words) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // Ctrl-C ends both
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execvp(words[0], words);
  _exit(kCannotStart);
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

}  // namespace

int run_child(const std::vector<std::string>& words, const std::vector<std::string>& variables,
              double limit_s) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
  const pid_t child = fork();
  if (child < 0)
    throw SimulationError(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
  if (child == 0) become(arguments.data());
  int status = 0;
  const auto limit =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  if (!ends_before(child, Clock::now() + limit, status)) {
    end(child, status);
    throw SimulationError(fmt::format("{} did not end within {:.0f} s", words[0], limit_s));
  }
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  if (WEXITSTATUS(status) == kCannotStart)
    throw SimulationError(fmt::format("{} cannot be started", words[0]));
  return WEXITSTATUS(status);
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
