// The processes of one run: ranks that mpirun started, or this process alone.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace stepsim::cpu {

/// MPI from construction to destruction. A lone process needs no MPI and does not call it: that is
/// one which mpirun did not start. There is one Ranks at a time, used on the thread that made it.
/// Several ranks keep to a core each, with the threads that they start later. What goes wrong on
/// one rank is to be caught and said while this lives, and then given up: an exception that leaves
/// it ends all ranks unsaid.
class Ranks {
 public:
  Ranks(int& argc, char**& argv);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The rank's number among the ranks on this machine, and how many there are.
  struct Here {
    int rank = 0, size = 1;
  };
  Here here() const;

  /// Ends the other ranks, which would wait for this one, and this one too where there are others;
  /// mpirun exits with `code`. Returns where nobody waits.
  void give_up(int code) const;

  void barrier() const;
  /// The largest value of all ranks, on all ranks.
  double largest(double value) const;
  double smallest(double value) const;
  double mean(double value) const;
  /// The value of rank 0, on all ranks.
  double of_first(double value) const;
  void of_first(void* bytes, std::size_t count) const;

  /// The version of the library that sends; empty for a lone process.
  std::string version() const;

 private:
  int rank_ = 0, size_ = 1;
  bool started_ = false;
};

/// Sums of arrays over all ranks that go on while others compute. Only the calling thread moves
/// them, whenever it calls progress() or finish(): a core does one thing at a time.
class AllReduces {
 public:
  explicit AllReduces(const Ranks& ranks);
  ~AllReduces();
  AllReduces(const AllReduces&) = delete;
  AllReduces& operator=(const AllReduces&) = delete;

  /// Begins a sum in place. REQUIRES: equal order and counts on all ranks; `values` stay until
  /// finish().
  void start(float* values, std::size_t count);
  void progress();
  void finish();

 private:
  struct Requests;
  bool alone_;
  std::unique_ptr<Requests> requests_;
};

}  // namespace stepsim::cpu
