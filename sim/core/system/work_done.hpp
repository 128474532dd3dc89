// How far the simulation of this process is, for whoever looks at it from a signal handler.
#pragma once

#include <atomic>
#include <cstdint>

namespace stepsim {

/// Tasks that are finished, and all of them; 0: nothing is simulated now.
struct WorkDone {
  std::atomic<std::int64_t> done = 0;
  std::atomic<std::int64_t> all = 0;
  std::atomic<std::int64_t> simulation = 0;  ///< counts them
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// The one of this process: simulations follow each other.
inline WorkDone work_done;

/// Counts the tasks of one simulation. It tells now and then, for that takes time.
class WorkCount {
 public:
  explicit WorkCount(std::int64_t all) {
    work_done.done.store(0, std::memory_order_relaxed);
    work_done.all.store(all, std::memory_order_relaxed);
    work_done.simulation.fetch_add(1, std::memory_order_relaxed);
  }
  ~WorkCount() { work_done.all.store(0, std::memory_order_relaxed); }
  WorkCount(const WorkCount&) = delete;
  WorkCount& operator=(const WorkCount&) = delete;

  void add_one() {
    if (++count_ % kSeldom == 0) work_done.done.store(count_, std::memory_order_relaxed);
  }

 private:
  // Some ten milliseconds: what looks does so once a second.
  static constexpr std::int64_t kSeldom = 1 << 16;
  std::int64_t count_ = 0;
};

}  // namespace stepsim
