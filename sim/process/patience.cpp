// A timer, and a handler that calls only what may be called in one (signal-safety(7)).
#include "sim/process/patience.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <string_view>

#include <unistd.h>

#include "sim/core/system/work_done.hpp"

namespace stepsim {
namespace {

constexpr time_t kUntilSaid = 2;  // seconds; whoever waits no longer needs no news
constexpr time_t kUntilNews = 1;  // seconds

std::atomic<const char*> at_work = nullptr;
std::atomic<bool> is_said = false;
static_assert(std::atomic<const char*>::is_always_lock_free);

// What an alarm last saw of the simulation that is under way: its number, the tasks done, the date.
std::int64_t seen_simulation = 0, seen_done = 0;
double seen_since = 0;

void put(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void put(std::int64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  put({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// " 34 %, 40 s left", once two alarms came within one simulation.
void put_share_done() {
  const std::int64_t all = work_done.all.load(std::memory_order_relaxed);
  const std::int64_t done = work_done.done.load(std::memory_order_relaxed);
  if (all == 0) return;
  const std::int64_t simulation = work_done.simulation.load(std::memory_order_relaxed);
  if (simulation != seen_simulation) {
    seen_since = now();
    seen_simulation = simulation;
    seen_done = done;
  }
  put(" ");
  put(100 * done / all);
  put(" %");
  const double passed = now() - seen_since;
  if (done == seen_done || passed <= 0) return;
  const double rate = static_cast<double>(done - seen_done) / passed;
  put(", ");
  put(static_cast<std::int64_t>(static_cast<double>(all - done) / rate) + 1);
  put(" s left");
}

void say() {
  const char* what = at_work;
  if (what == nullptr) return;
  is_said = true;
  put("\r\033[K");
  put(what);
  put(" ...");
  put_share_done();
}

void on_alarm(int) {
  const int before = errno;
  const bool is_news = work_done.all.load(std::memory_order_relaxed) > 0;
  if (is_news || !is_said) say();
  errno = before;
}

/// While it lives no alarm comes.
class Quiet {
 public:
  Quiet() {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, &before_);
  }
  ~Quiet() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Patience::Patience(bool is_on) : is_on_(is_on) {
  if (!is_on_) return;
  at_work = nullptr;
  is_said = false;
  struct sigaction action {};
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, &before_);
  const itimerval alarms{.it_interval = {.tv_sec = kUntilNews, .tv_usec = 0},
                         .it_value = {.tv_sec = kUntilSaid, .tv_usec = 0}};
  setitimer(ITIMER_REAL, &alarms, nullptr);
}

Patience::~Patience() { end(); }

void Patience::begins(const char* what) const {
  const Quiet quiet;
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
