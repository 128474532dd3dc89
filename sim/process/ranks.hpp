// The processes that mpirun or srun started together, and the work that they share.
//
// Rank 0 says which piece is next, does some itself, and hears all results; it alone keeps files
// and prints. The others do what it says. A process that was started alone is rank 0 of 1.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sim/process/forked.hpp"

namespace stepsim {

/// How a rank does a piece of work: each in a copy of its process, `jobs` at a time.
struct RankWork {
  std::string task;  ///< fingerprint of all that results depend on; equal on all ranks
  int jobs = 1;
  ForkLimits limits;
  std::function<std::string(std::int64_t)> work;
};

class Ranks {
 public:
  /// Joins the others; one object a process. `alone`: tasks that srun started, and that MPI does
  /// not join, are meant so. Throws UserError where there are others that cannot be joined.
  explicit Ranks(bool alone);
  /// Leaves. Rank 0 sends the others away.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const;
  int size() const;

  /// On rank 0: like `stream_forked`, over all ranks. A signal to any of them ends it. Throws
  /// UserError when a rank would do something else, IoError when one cannot do its part.
  bool lead(const std::function<NextPiece()>& next, const RankWork& work,
            const std::function<void(Ended)>& on_end, const std::function<void()>& on_pause);

  /// On the others: does what rank 0 says, until it says no more.
  void follow(const RankWork& work);
  /// On the others: says why it cannot.
  void refuse(const std::string& reason);

 private:
  struct Others;
  std::unique_ptr<Others> others_;  ///< absent: there is nobody else
};

}  // namespace stepsim
