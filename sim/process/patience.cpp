// A timer, and a handler that calls only what may be called in one (signal-safety(7)).
#include "sim/process/patience.hpp"

#include <atomic>
#include <cstring>

#include <unistd.h>

namespace stepsim {
namespace {

constexpr time_t kUntilSaid = 2;  // seconds; whoever waits no longer needs no news

std::atomic<const char*> at_work = nullptr;
std::atomic<bool> is_said = false;
static_assert(std::atomic<const char*>::is_always_lock_free);

void put(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

void say() {
  const char* what = at_work;
  if (what == nullptr) return;
  is_said = true;
  put("\r\033[K");
  put(what);
  put(" ...");
}

void on_alarm(int) { say(); }

}  // namespace

Patience::Patience(bool is_on) : is_on_(is_on) {
  if (!is_on_) return;
  at_work = nullptr;
  is_said = false;
  struct sigaction action {};
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, &before_);
  const itimerval once{.it_interval = {}, .it_value = {.tv_sec = kUntilSaid, .tv_usec = 0}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

Patience::~Patience() { end(); }

void Patience::begins(const char* what) const {
  at_work = what;
  if (is_on_ && is_said) say();
}

void Patience::end() {
  if (!is_on_) return;
  is_on_ = false;
  const itimerval none{};
  setitimer(ITIMER_REAL, &none, nullptr);
  sigaction(SIGALRM, &before_, nullptr);
  if (is_said) put("\r\033[K");
}

}  // namespace stepsim
