// A handler of the signals of crashes, which tries to map memory.
#include "sim/process/out_of_memory.hpp"

#include <csignal>
#include <cstddef>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace stepsim {
namespace {

const char* last_words = "";
int exit_code = 0;

void on_crash(int signal) {
  if (is_out_of_memory()) {
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, last_words, std::strlen(last_words));
    _exit(exit_code);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

bool is_out_of_memory() {
  constexpr std::size_t kStack = 8 << 20;
  void* room = mmap(nullptr, kStack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return true;
  munmap(room, kStack);
  return false;
}

void end_when_out_of_memory(const char* text, int code) {
  last_words = text;
  exit_code = code;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS}) std::signal(signal, on_crash);
}

}  // namespace stepsim
