// The processes of one run: ranks that mpirun started, or this process alone.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace stepsim::cpu {

/// MPI from construction to destruction; not used at all where mpirun started nothing, since a lone
/// process needs none of it. One at a time, on the thread that made it. Several ranks keep to a
/// core each, with the threads that they start later. What goes wrong on one rank is caught and
/// said while this lives, and then given up: an exception that leaves it ends all ranks unsaid.
class Ranks {
 public:
  Ranks(int& argc, char**& argv);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Which of the ranks on this machine, and how many these are.
  struct Here {
    int rank = 0, size = 1;
  };
  Here here() const;

  /// Ends the other ranks, which would wait for this one, and this one too where there are others;
  /// mpirun exits with that code. Returns where nobody waits.
  void give_up(int code) const;

  void barrier() const;
  /// Of all ranks, on all ranks.
  double largest(double value) const;
  double smallest(double value) const;
  double mean(double value) const;
  /// What rank 0 has, on all ranks.
  double of_first(double value) const;
  void of_first(void* bytes, std::size_t count) const;

  /// The library that sends, or empty.
  std::string version() const;

 private:
  int rank_ = 0, size_ = 1;
  bool started_ = false;
};

/// Sums of arrays over all ranks that go on while others compute: nobody but the calling thread
/// moves them, whenever it calls progress() or finish(). A core does one thing at a time.
class AllReduces {
 public:
  explicit AllReduces(const Ranks& ranks);
  ~AllReduces();
  AllReduces(const AllReduces&) = delete;
  AllReduces& operator=(const AllReduces&) = delete;

  /// In place. REQUIRES: the same order and counts on all ranks; values stay until finish().
  void start(float* values, std::size_t count);
  void progress();
  void finish();

 private:
  struct Requests;
  bool alone_;
  std::unique_ptr<Requests> requests_;
};

}  // namespace stepsim::cpu
