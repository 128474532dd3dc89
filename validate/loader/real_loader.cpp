// Runs the threads and the queues of the real loader.
#include "validate/loader/real_loader.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace stepsim {
namespace {

using Clock = std::chrono::steady_clock;

template <class T>
class Queue {
 public:
  void put(T item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(item);
    }
    there_is_one_.notify_one();
  }
  T take() {
    std::unique_lock lock(mutex_);
    there_is_one_.wait(lock, [&] { return !items_.empty(); });
    T item = items_.front();
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable there_is_one_;
  std::deque<T> items_;
};

}  // namespace

class RealLoader::Threads {
 public:
  Threads(const RealSetting& setting, std::function<void(std::size_t)> load)
      : setting_(setting),
        load_(std::move(load)),
        asked_(static_cast<std::size_t>(setting.workers)) {
    for (auto& queue : asked_) threads_.emplace_back([this, &queue] { work(queue); });
    for (int i = 0; i < setting.workers * setting.prefetch; ++i) ask();
  }
  ~Threads() {
    for (auto& queue : asked_) queue.put(std::nullopt);
    for (std::thread& thread : threads_) thread.join();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  void next() {
    if (asked_.empty()) return load_batch(taken_++);
    while (arrived_.erase(taken_) == 0) arrived_.insert(results_.take());
    ++taken_;
    ask();
  }

 private:
  void ask() {
    if (next_ == setting_.batches) return;
    asked_[static_cast<std::size_t>(next_ % setting_.workers)].put(next_);
    ++next_;
  }
  void work(Queue<std::optional<int>>& queue) {
    while (const std::optional<int> batch = queue.take()) {
      load_batch(*batch);
      results_.put(*batch);
    }
  }
  void load_batch(int batch) const {
    for (int i = 0; i < setting_.batch; ++i)
      load_(static_cast<std::size_t>(batch) * static_cast<std::size_t>(setting_.batch) +
            static_cast<std::size_t>(i));
  }

  RealSetting setting_;
  std::function<void(std::size_t)> load_;
  // one queue for each worker; an empty item ends the worker
  std::vector<Queue<std::optional<int>>> asked_;
  Queue<int> results_;
  std::set<int> arrived_;
  std::vector<std::thread> threads_;
  int next_ = 0, taken_ = 0;
};

RealLoader::RealLoader(const RealSetting& setting, std::function<void(std::size_t)> load)
    : threads_(std::make_unique<Threads>(setting, std::move(load))) {}

RealLoader::~RealLoader() = default;

void RealLoader::next() { threads_->next(); }

std::vector<double> run_real(const RealSetting& setting,
                             const std::function<void(std::size_t)>& load) {
  std::vector<double> ends;
  const Clock::time_point start = Clock::now();
  RealLoader loader(setting, load);
  for (int i = 0; i < setting.batches; ++i) {
    loader.next();
    if (setting.step > 0)
      std::this_thread::sleep_until(Clock::now() + std::chrono::duration<double>(setting.step));
    ends.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return ends;
}

}  // namespace stepsim
