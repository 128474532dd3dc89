// Handlers of signals: each calls only what may be called in one (signal-safety(7)).
#include "sim/process/interrupt.hpp"

#include <ctime>
#include <string_view>

#include <unistd.h>

namespace stepsim {
namespace {

/// Signals that mpirun or a shell sends twice are closer to each other; a person is not.
constexpr int kSecondsToRepeat = 2;

volatile std::sig_atomic_t interrupted = 0;     ///< the signal
volatile std::sig_atomic_t interrupted_at = 0;  ///< seconds of a clock
const InterruptNoted* outermost = nullptr;

std::sig_atomic_t seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::sig_atomic_t>(now.tv_sec);
}

void on_signal(int signal) {
  if (interrupted == 0) return InterruptNoted::note(signal);
  if (seconds_now() - interrupted_at < kSecondsToRepeat) return;
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void exit_at_once(int) {
  constexpr std::string_view kText = "interrupted before the first simulation\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  _exit(static_cast<int>(ExitCode::incomplete));
}

/// What a copy of this process has to go back to is kept in `before`.
void handle(int signal, struct sigaction& before) {
  sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;  // a job in the background
  if (before.sa_handler == exit_at_once) before.sa_handler = SIG_DFL;
  struct sigaction action {};
  action.sa_handler = on_signal;  // without SA_RESTART: poll returns
  sigaction(signal, &action, nullptr);
}

}  // namespace

void exit_when_interrupted() {
  for (const int signal : std::array{SIGINT, SIGTERM}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) std::signal(signal, exit_at_once);
  }
}

InterruptNoted::InterruptNoted() : is_within_another_(outermost != nullptr) {
  if (is_within_another_) {
    before_ = outermost->before_;
    return;
  }
  outermost = this;
  interrupted = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) handle(kSignals[i], before_[i]);
}

InterruptNoted::~InterruptNoted() {
  if (!is_within_another_) restore();
}

bool InterruptNoted::came() { return interrupted != 0; }

int InterruptNoted::signal() { return interrupted; }

void InterruptNoted::note(int signal) {
  if (interrupted != 0) return;
  interrupted_at = seconds_now();
  interrupted = signal;
}

void InterruptNoted::restore() const {
  outermost = nullptr;
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

void Interrupted::end_process() const {
  std::signal(signal_, SIG_DFL);
  raise(signal_);
  _exit(static_cast<int>(ExitCode::incomplete));  // the signal is held back
}

}  // namespace stepsim
