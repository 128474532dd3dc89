// Runs a program that nobody trusts, and changes nothing by it.
//
// The kernel filters its system calls (call_filter.hpp); those with a path, and every start of a
// program, stop until this process has looked at them. It needs no privilege and no other program.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/core/quantity.hpp"

namespace stepsim {

/// A program to start.
struct ProgramStart {
  std::string path;
  std::vector<std::string> words;        ///< its name and its arguments
  std::vector<std::string> environment;  ///< "NAME=value"
};

struct WatchLimits {
  Seconds wall{6};
  int processes = 32;                ///< at a time
  std::uint64_t memory = 256 << 20;  ///< bytes of address space, of each process
  std::uint64_t file = 4 << 20;      ///< bytes of a file
};

struct WatchedProgram {
  ProgramStart start;
  std::string folder;                 ///< where it runs
  std::vector<std::string> others;    ///< folders in which it finds what is not below `folder`
  std::vector<std::string> programs;  ///< names of programs that it finds in kProgramFolder
  std::string script;                 ///< a text that it finds as kOwnScript
  WatchLimits limits;
};

/// A folder that is there for the program alone.
inline constexpr const char* kProgramFolder = "/stepsim/bin";
/// A file that is there for the program alone.
inline constexpr const char* kOwnScript = "/stepsim/script";

/// What is started in place of `asked`, by the process of that number. It is told of `folder`, the
/// program's own.
using OnStart = std::function<ProgramStart(const ProgramStart& asked, int process)>;
/// A process made a copy of itself.
using OnFork = std::function<void(int process, int copy)>;

struct WatchedEnd {
  enum class How : std::uint8_t { by_itself, out_of_time, too_many_processes, not_started };
  How how = How::by_itself;
  int code = 0;                      ///< exit code; 128 and the signal where one ended it
  std::string errors;                ///< what it printed to standard error
  std::vector<std::string> read;     ///< files that a shell read, in order
  std::vector<std::string> missing;  ///< files that a shell wanted to read; they were empty
  std::vector<std::string> absent;   ///< files that other programs wanted to read
};

/// Runs it to its end. What it writes, it finds again, and nobody else does. Processes that it
/// leaves behind are ended. Its copies of files lie in `scratch`, and go; whoever kills this process
/// has to see to that. REQUIRES: this process has no other children (fork it).
WatchedEnd watched_run(const WatchedProgram& program, const std::filesystem::path& scratch,
                       const OnStart& on_start, const OnFork& on_fork);

}  // namespace stepsim
