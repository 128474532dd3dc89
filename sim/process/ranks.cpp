// Hands out work by messages, or in this process alone.
//
// Messages are asked for, never waited for: MPI would keep a core busy meanwhile. Copies of a
// rank's process never call MPI, and leave by _exit, so that they may be made after MPI_Init.
#include "sim/process/ranks.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/core/error.hpp"
#include "sim/core/system/installed.hpp"
#include "sim/core/system/module.hpp"
#include "sim/process/forked_copies.hpp"
#include "sim/process/launcher.hpp"
#include "sim/process/messages.hpp"

namespace stepsim {
namespace {

using Clock = std::chrono::steady_clock;

/// Between two looks for messages: a small part of the shortest point's time.
constexpr std::chrono::milliseconds kLook{1};
/// For the others to leave: some may not even have read their files yet. After a signal one of them
/// may be dead, and mpirun itself waits for a second only.
constexpr std::chrono::seconds kGrace{60}, kGraceAfterSignal{2};

enum Tag : int {
  // to rank 0
  ready,        ///< the rank's task; it may have work
  ended,        ///< a piece
  refused,      ///< why it cannot do its part
  interrupted,  ///< a signal came
  left,         ///< the rank's last word
  // from rank 0
  piece,  ///< the number of one
  stop
};

std::string host_name() {
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) return "?";
  return name.substr(0, name.find('\0'));
}

std::string text_of(const Ended& ended) {
  return fmt::format("{} {} {}", ended.index, static_cast<int>(ended.how), ended.text);
}

Ended ended_in(const std::string& text) {
  Ended result;
  int how = 0;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, result.index);
  if (index.ptr == end) throw InternalError("a rank answered '" + text + "'");
  const auto rest = std::from_chars(index.ptr + 1, end, how);
  if (rest.ptr == end || how > static_cast<int>(Ending::crashed))
    throw InternalError("a rank answered '" + text + "'");
  result.how = static_cast<Ending>(how);
  result.text.assign(rest.ptr + 1, end);
  return result;
}

}  // namespace

/// How this rank speaks with the others, from joining to leaving.
struct Ranks::Others {
  std::unique_ptr<Messages> messages;
  bool stopped = false;  ///< on the others: rank 0 wants no more
  std::chrono::seconds grace = kGrace;

  Others() {
    // Open MPI's own plugins look its names up among all that are loaded.
    messages.reset(reinterpret_cast<JoinOthers>(load_from_module("mpi", kJoinOthers, true))());
  }

  /// On the others.
  void await_stop() {
    while (!stopped) {
      const auto message = messages->heard();
      stopped = message && message->tag == stop;
      if (!message) usleep(1000);
    }
  }

  /// On rank 0: false where some rank did not say that it leaves.
  bool send_away() const {
    for (int other = 1; other < messages->size(); ++other) messages->send_to_any(other, stop);
    int gone = 1;
    for (const auto begin = Clock::now();
         gone < messages->size() && Clock::now() - begin < grace;) {
      const auto message = messages->heard();
      if (message && message->tag == left) ++gone;
      if (!message) usleep(1000);
    }
    return gone == messages->size();
  }
};

Ranks::Ranks(bool alone) {
  if (has_module("mpi")) {
    if (was_launched_for_mpi()) others_ = std::make_unique<Others>();
    if (size() == 1 && slurm_tasks() > 1 && !alone)
      throw UserError(
          fmt::format("srun started {} tasks that MPI does not join: srun --mpi=pmix (`srun "
                      "--mpi=list` says what there is), or give each its --shard",
                      slurm_tasks()));
    return;
  }
  const int all = launched_ranks();
  if (all > 1 && !alone)
    throw UserError(
        fmt::format("started as one of {} processes, but {}, or give each its --shard", all,
                    installed_prefix() ? "the package stepsim-mpi, which joins them, is not "
                                         "installed: install it"
                                       : "built without MPI: apt-get install libopenmpi-dev "
                                         "openmpi-bin and build again"));
}

Ranks::~Ranks() {
  if (!others_) return;
  if (rank() > 0) {
    others_->await_stop();
    others_->messages->send(0, left, "");
  } else if (!others_->send_away()) {
    return;  // leaving together would be waiting for the dead
  }
  others_->messages->leave();
}

int Ranks::rank() const { return others_ ? others_->messages->rank() : 0; }
int Ranks::size() const { return others_ ? others_->messages->size() : 1; }

namespace {

/// Rank 0's view of all.
class Lead {
 public:
  Lead(int size, const std::function<NextPiece()>& next, const RankWork& work,
       const std::function<void(Ended)>& on_end)
      : next_(next),
        work_(work),
        on_end_(on_end),
        copies_(noted_, work.limits, work.work, on_end),
        free_(static_cast<std::size_t>(size), 0),
        at_a_time_(std::max(work.jobs, 1)) {}

  bool run(const std::function<std::optional<Message>()>& heard,
           const std::function<void(int, std::int64_t)>& give,
           const std::function<void()>& on_pause) {
    while (!InterruptNoted::came() && !interrupted_) {
      free_[0] = at_a_time_ - static_cast<int>(copies_.running());
      later_ = false;
      for (std::size_t rank = 0; rank < free_.size() && !later_; ++rank) hand_out(rank, give);
      if (!has_more_ && under_way_ == 0 && copies_.running() == 0) return true;
      copies_.listen(later_ ? std::chrono::milliseconds{0} : kLook);
      while (const auto message = heard()) hear(*message);
      on_pause();
    }
    copies_.drain();
    return false;
  }

 private:
  void hand_out(std::size_t rank, const std::function<void(int, std::int64_t)>& give) {
    for (; free_[rank] > 0 && has_more_; --free_[rank]) {
      const NextPiece one = next_();
      has_more_ = one.kind != NextPiece::Kind::none;
      later_ = one.kind == NextPiece::Kind::later;
      if (one.kind != NextPiece::Kind::piece) return;
      if (rank == 0) {
        copies_.start(one.index);
      } else {
        give(static_cast<int>(rank), one.index);
        ++under_way_;
      }
    }
  }

  void hear(const Message& message) {
    int& free = free_[static_cast<std::size_t>(message.rank)];
    if (message.tag == ready) {
      check_task(message);
      free = at_a_time_;
    } else if (message.tag == ended) {
      on_end_(ended_in(message.text));
      ++free;
      --under_way_;
    } else if (message.tag == interrupted) {
      interrupted_ = true;
    } else if (message.tag == refused) {
      throw IoError(fmt::format("rank {} of {}: {}", message.rank, free_.size(), message.text));
    }
  }

  void check_task(const Message& message) const {
    const std::size_t end = message.text.find('\n');
    if (message.text.substr(end + 1) == work_.task) return;
    throw UserError(
        fmt::format("rank {} on {} would do something else than rank 0: another stepsim, other "
                    "files, or another --shard",
                    message.rank, message.text.substr(0, end)));
  }

  const std::function<NextPiece()>& next_;
  const RankWork& work_;
  const std::function<void(Ended)>& on_end_;
  const InterruptNoted noted_;
  ForkedCopies copies_;
  std::vector<int> free_;  ///< pieces that each rank may still have
  int at_a_time_;
  std::int64_t under_way_ = 0;  ///< pieces that the others have
  bool has_more_ = true, interrupted_ = false;
  bool later_ = false;  ///< the next piece is still looked for
};

}  // namespace

bool Ranks::lead(const std::function<NextPiece()>& next, const RankWork& work,
                 const std::function<void(Ended)>& on_end, const std::function<void()>& on_pause) {
  if (size() == 1) return stream_forked(next, work.jobs, work.limits, work.work, on_end, on_pause);
  Lead lead(size(), next, work, on_end);
  Messages& messages = *others_->messages;
  const auto give = [&](int rank, std::int64_t index) {
    messages.send(rank, piece, std::to_string(index));
  };
  const bool whole = lead.run([&] { return messages.heard(); }, give, on_pause);
  if (!whole) others_->grace = kGraceAfterSignal;
  return whole;
}

void Ranks::follow(const RankWork& work) {
  Messages& messages = *others_->messages;
  const std::function<void(Ended)> on_end = [&](const Ended& one) {
    messages.send(0, ended, text_of(one));
  };
  const InterruptNoted noted;
  ForkedCopies copies(noted, work.limits, work.work, on_end);
  messages.send(0, ready, host_name() + "\n" + work.task);
  bool said = false;
  while (!others_->stopped) {
    while (const auto message = messages.heard()) {
      others_->stopped = message->tag == stop;
      if (others_->stopped) break;
      copies.start(std::stoll(message->text));
    }
    copies.listen(kLook);
    if (InterruptNoted::came() && !said) {
      copies.drain();
      messages.send(0, interrupted, "");
      said = true;
    }
  }
}

void Ranks::refuse(const std::string& reason) {
  others_->messages->send(0, refused, fmt::format("{}, on {}", reason, host_name()));
}

}  // namespace stepsim
