// Ranks where MPI was not found: this process alone.
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/process/launcher.hpp"
#include "sim/process/ranks.hpp"

namespace stepsim {

struct Ranks::Messages {};

Ranks::Ranks(bool alone) {
  const int all = launched_ranks();
  if (all > 1 && !alone)
    throw UserError(
        fmt::format("started as one of {} processes, but built without MPI: apt-get install "
                    "libopenmpi-dev openmpi-bin and build again, or give each its --shard",
                    all));
}

Ranks::~Ranks() = default;

int Ranks::rank() const { return 0; }
int Ranks::size() const { return 1; }

bool Ranks::lead(const std::function<NextPiece()>& next, const RankWork& work,
                 const std::function<void(Ended)>& on_end, const std::function<void()>& on_pause) {
  return stream_forked(next, work.jobs, work.limits, work.work, on_end, on_pause);
}

void Ranks::follow(const RankWork&) { throw InternalError("a lone process has nobody to follow"); }
void Ranks::refuse(const std::string& reason) { throw InternalError(reason); }

}  // namespace stepsim
