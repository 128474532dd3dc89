// A loader written with plain queues: workers that take batches from their queues, a thread that
// pins, a training loop that waits. It knows neither plan nor engine; clock and shares are its own.
//
// What shares a resource gets an equal part of it (one storage, cores of which a worker uses one at
// most). The loop's step: for each micro-batch wait for a batch and copy it; the GPU computes when
// the copy is there; at the end the optimizer, and the loop waits for the GPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <vector>

namespace stepsim {

struct QueueSetting {
  int workers = 1, prefetch = 1, micro_batches = 1, steps = 10;
  int epoch_steps = 0;  ///< 0: one epoch
  bool persistent = false;
  bool blocking = false;     ///< the loop waits for its copies
  double start = 0;          ///< seconds until a worker has started
  double bytes = 0;          ///< bytes of a batch
  double bandwidth = 0;      ///< bytes a second of storage; 0: nothing is read
  double waiting = 0;        ///< seconds until storage answers for a batch
  double cpu = 0;            ///< seconds of a worker for a batch
  double cores = 0;          ///< cores that workers share; 0: one each
  double pin = 0, copy = 0;  ///< seconds for a batch
  double compute = 0;        ///< seconds for a batch
  double optimizer = 0;
};

class PlainQueues {
 public:
  explicit PlainQueues(const QueueSetting& setting) : s_(setting) {}

  /// When each step ended.
  std::vector<double> run() {
    workers_.resize(static_cast<std::size_t>(std::max(s_.workers, 1)));
    begin_epoch();
    next_batch();
    while (!jobs_.empty()) advance();
    return step_ends_;
  }

 private:
  enum class Resource { time, storage, cores };
  struct Job {
    Resource resource;
    double left;
    std::function<void()> then;
  };
  struct Worker {
    std::deque<int> asked;
    bool busy = false;
  };

  void spend(Resource resource, double amount, std::function<void()> then) {
    jobs_.push_back({resource, amount, std::move(then)});
  }

  double rate(Resource resource) const {
    if (resource == Resource::time) return 1;
    const auto users = static_cast<double>(std::count_if(
        jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.resource == resource; }));
    if (resource == Resource::storage) return s_.bandwidth / users;
    return std::min(1.0, s_.cores / users);
  }

  /// To the next end of a job, and the end of all that end then.
  void advance() {
    double next = INFINITY;
    for (const Job& job : jobs_) next = std::min(next, job.left / rate(job.resource));
    std::vector<double> done;
    for (const Job& job : jobs_) done.push_back(next * rate(job.resource));
    now_ += next;
    std::vector<Job> over, rest;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      jobs_[i].left -= done[i];
      const bool ends = jobs_[i].left <= 1e-12 * done[i] + 1e-15;
      (ends ? over : rest).push_back(std::move(jobs_[i]));
    }
    jobs_ = std::move(rest);
    for (const Job& job : over) job.then();
  }

  int epoch_batches() const {
    if (s_.epoch_steps > 0) return s_.epoch_steps * s_.micro_batches;
    return s_.steps * s_.micro_batches + s_.workers * s_.prefetch;  // all that are ever asked for
  }

  // --- workers

  void begin_epoch() {
    taken_ = 0;
    ready_.assign(static_cast<std::size_t>(epoch_batches()), false);
    if (s_.workers == 0) return;
    const bool is_new = epoch_ == 0 || !s_.persistent;
    ++epoch_;
    for (Worker& worker : workers_) worker.busy = true;  // until it has started
    for (int j = 0; j < std::min(s_.workers * s_.prefetch, epoch_batches()); ++j) ask_for(j);
    for (Worker& worker : workers_) {
      spend(Resource::time, is_new ? s_.start : 0, [this, &worker] { take_next(worker); });
    }
  }

  void ask_for(int batch) {
    Worker& worker = workers_[static_cast<std::size_t>(batch % s_.workers)];
    worker.asked.push_back(batch);
    if (!worker.busy) take_next(worker);
  }

  void take_next(Worker& worker) {
    worker.busy = !worker.asked.empty();
    if (!worker.busy) return;
    const int batch = worker.asked.front();
    worker.asked.pop_front();
    load([this, &worker, batch] {
      to_pin_.push_back(batch);
      if (to_pin_.size() == 1) pin_next();
      take_next(worker);
    });
  }

  void load(const std::function<void()>& then) {
    const auto decode = [this, then] {
      if (s_.cores == 0) return spend(Resource::time, s_.waiting + s_.cpu, then);
      spend(Resource::time, s_.waiting, [this, then] { spend(Resource::cores, s_.cpu, then); });
    };
    if (s_.bandwidth == 0) return decode();
    spend(Resource::storage, s_.bytes, decode);
  }

  void pin_next() {
    spend(Resource::time, s_.pin, [this] {
      ready_[static_cast<std::size_t>(to_pin_.front())] = true;
      to_pin_.pop_front();
      if (!to_pin_.empty()) pin_next();
      if (waits_ && ready_[static_cast<std::size_t>(taken_)]) receive();
    });
  }

  // --- the training loop

  void next_batch() {
    if (s_.epoch_steps > 0 && taken_ == epoch_batches()) begin_epoch();
    if (s_.workers == 0) {
      return load([this] { spend(Resource::time, s_.pin, [this] { receive(); }); });
    }
    waits_ = true;
    if (ready_[static_cast<std::size_t>(taken_)]) receive();
  }

  void receive() {
    waits_ = false;
    const int later = taken_++ + s_.workers * s_.prefetch;
    if (s_.workers > 0 && later < epoch_batches()) ask_for(later);
    copy_free_ = std::max(copy_free_, now_) + s_.copy;
    gpu_free_ = std::max(gpu_free_, copy_free_) + s_.compute;
    if (!s_.blocking) return go_on();
    spend(Resource::time, copy_free_ - now_, [this] { go_on(); });
  }

  void go_on() {
    if (++micro_batch_ < s_.micro_batches) return next_batch();
    micro_batch_ = 0;
    gpu_free_ += s_.optimizer;
    spend(Resource::time, gpu_free_ - now_, [this] {
      now_ = gpu_free_;
      step_ends_.push_back(now_);
      if (static_cast<int>(step_ends_.size()) < s_.steps) next_batch();
    });
  }

  QueueSetting s_;
  double now_ = 0, copy_free_ = 0, gpu_free_ = 0;
  std::vector<Job> jobs_;
  std::vector<Worker> workers_;
  std::deque<int> to_pin_;
  std::vector<bool> ready_;
  std::vector<double> step_ends_;
  int epoch_ = 0, taken_ = 0, micro_batch_ = 0;
  bool waits_ = false;
};

}  // namespace stepsim
