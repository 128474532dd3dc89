// How fast, how big: runs the program on named scenarios and holds it to the project's limits.
//
// Each run is a child process, so that its peak memory is its own. Exit code 1 when a limit is
// missed.
#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/source_folder.hpp"

namespace {

using Json = nlohmann::json;

struct Case {
  const char* name;
  const char* file;
  const char* set;   ///< what is changed in it; empty: nothing
  const char* fold;  ///< auto or off
  double most_seconds;
  double most_bytes;
};

// The goals of the project: 16,384 GPUs on a laptop before one looks up; every kernel of 1,024
// ranks while one waits; one all-reduce in no time, on however many GPUs.
constexpr const char* kAllReduce = "tests/perf/all_reduce.yaml";
constexpr std::array kCases{
    Case{"llama3-405b-16384xh100", "scenarios/llama3-405b-16384xh100.yaml", "", "auto", 1, 250e6},
    Case{"one straggler, 16384", "scenarios/llama3-405b-16384xh100.yaml",
         "faults.slow_gpus=[{ranks: [5], delay: 50 ms}]", "auto", 3, 400e6},
    Case{"gpt3-175b-1024xa100", "scenarios/gpt3-175b-1024xa100.yaml", "", "off", 30, 4e9},
    Case{"all-reduce, 64", kAllReduce, "cluster.nodes=8", "auto", 0.05, 100e6},
    Case{"all-reduce, 256", kAllReduce, "cluster.nodes=32", "auto", 0.05, 100e6},
    Case{"all-reduce, 1024", kAllReduce, "cluster.nodes=128", "auto", 0.05, 100e6},
    Case{"all-reduce, 4096", kAllReduce, "cluster.nodes=512", "auto", 0.05, 100e6},
    Case{"all-reduce, 16384", kAllReduce, "cluster.nodes=2048", "auto", 0.2, 250e6}};
constexpr std::array kStages{"load", "build", "plan", "simulate", "measure"};

struct Child {
  int code = 0;
  double peak_bytes = 0;
  std::string out;
};

std::string read_all(int file) {
  std::string text;
  std::array<char, 1 << 14> part{};
  for (ssize_t n = 0; (n = read(file, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  return text;
}

Child run(const Case& c) {
  const std::string path = fmt::format("{}/{}", stepsim::source_folder(), c.file);
  std::vector<const char*> words{"stepsim", "run",      path.c_str(), "--fold",
                                 c.fold,    "--format", "json",       "--stats"};
  if (*c.set != 0) words.insert(words.end(), {"--set", c.set});
  words.push_back(nullptr);
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {.code = 126};
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv(STEPSIM_PROGRAM, const_cast<char* const*>(words.data()));
    _exit(127);
  }
  close(ends[1]);
  Child child{.out = read_all(ends[0])};
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(pid, &status, 0, &usage);
  child.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  child.peak_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
  return child;
}

std::string millions(double count) { return fmt::format("{:.2f} M", count / 1e6); }

/// Prints the row of a case. Returns whether its limits hold.
bool report(const Case& c, const Child& child) {
  const Json engine = Json::parse(child.out)["engine"];
  const double simulate = engine["stages_s"]["simulate"];
  const double events = engine["events"], kernels = engine["kernels"], wall = engine["wall_s"];
  fmt::print("{:<24}{:>7}", c.name, engine["ranks_simulated"].get<long>());
  for (const char* stage : kStages)
    fmt::print("{:>10.3f}", engine["stages_s"][stage].get<double>());
  fmt::print("{:>10}{:>10}{:>10}{:>10}", millions(events),
             millions(events / std::max(simulate, 1e-6)), millions(kernels),
             millions(kernels / std::max(simulate, 1e-6)));
  const bool holds = wall < c.most_seconds && child.peak_bytes < c.most_bytes;
  fmt::print("{:>9.2f} s < {:<3}{:>6.0f} MB < {:<5}{}\n", wall, c.most_seconds,
             child.peak_bytes / 1e6, c.most_bytes / 1e6, holds ? "ok" : "MISSED");
  return holds;
}

/// Whether every run ended well and held its limits.
bool run_all() {
  fmt::print("{:<24}{:>7}", "scenario", "ranks");
  for (const char* stage : kStages) fmt::print("{:>8} s", stage);
  fmt::print("{:>10}{:>10}{:>10}{:>10}{:>15}{:>17}\n", "events", "a second", "kernels", "a second",
             "wall", "peak memory");
  bool all_hold = true;
  for (const Case& c : kCases) {
    const Child child = run(c);
    if (child.code > 1)
      throw std::runtime_error(fmt::format("{} exits with {}", c.name, child.code));
    all_hold &= report(c, child);
    std::fflush(stdout);
  }
  return all_hold;
}

}  // namespace

int main() {
  try {
    return run_all() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
