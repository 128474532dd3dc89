// Ranks of MPI. The only file of the program that sees it.
//
// Messages are asked for, never waited for: MPI would keep a core busy meanwhile. Copies of a
// rank's process never call MPI, and leave by _exit, so that they may be made after MPI_Init.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include "sim/core/error.hpp"
#include "sim/process/forked_copies.hpp"
#include "sim/process/launcher.hpp"
#include "sim/process/ranks.hpp"

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

struct Message {
  int rank = 0, tag = 0;
  std::string text;
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

/// MPI from construction to destruction.
struct Ranks::Messages {
  int rank = 0, size = 1;
  bool stopped = false;  ///< on the others: rank 0 wants no more
  std::chrono::seconds grace = kGrace;

  Messages() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }

  static void send(int to, Tag tag, const std::string& text = "") {
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, tag, MPI_COMM_WORLD);
  }

  /// The next message, if there is one.
  static std::optional<Message> heard() {
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
    if (is_there == 0) return std::nullopt;
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    Message message{status.MPI_SOURCE, status.MPI_TAG,
                    std::string(static_cast<std::size_t>(length), '\0')};
    MPI_Recv(message.text.data(), length, MPI_CHAR, message.rank, message.tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return message;
  }

  /// On the others.
  void await_stop() {
    while (!stopped) {
      const auto message = heard();
      stopped = message && message->tag == stop;
      if (!message) usleep(1000);
    }
  }

  /// On rank 0: false where some rank did not say that it leaves.
  bool send_away() const {
    for (int other = 1; other < size; ++other) {
      MPI_Request request = MPI_REQUEST_NULL;  // nobody waits for one that may be dead
      MPI_Isend(nullptr, 0, MPI_CHAR, other, stop, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
    }
    int gone = 1;
    for (const auto begin = Clock::now(); gone < size && Clock::now() - begin < grace;) {
      const auto message = heard();
      if (message && message->tag == left) ++gone;
      if (!message) usleep(1000);
    }
    return gone == size;
  }
};

Ranks::Ranks(bool alone) {
  if (was_launched_for_mpi()) messages_ = std::make_unique<Messages>();
  if (size() == 1 && slurm_tasks() > 1 && !alone)
    throw UserError(
        fmt::format("srun started {} tasks that MPI does not join: srun --mpi=pmix (`srun "
                    "--mpi=list` says what there is), or give each its --shard",
                    slurm_tasks()));
}

Ranks::~Ranks() {
  if (!messages_) return;
  if (rank() > 0) {
    messages_->await_stop();
    Messages::send(0, left);
  } else if (!messages_->send_away()) {
    return;  // MPI_Finalize would wait for the dead
  }
  MPI_Finalize();
}

int Ranks::rank() const { return messages_ ? messages_->rank : 0; }
int Ranks::size() const { return messages_ ? messages_->size : 1; }

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
  const auto give = [](int rank, std::int64_t index) {
    Messages::send(rank, piece, std::to_string(index));
  };
  const bool whole = lead.run(&Messages::heard, give, on_pause);
  if (!whole) messages_->grace = kGraceAfterSignal;
  return whole;
}

void Ranks::follow(const RankWork& work) {
  const std::function<void(Ended)> on_end = [](const Ended& one) {
    Messages::send(0, ended, text_of(one));
  };
  const InterruptNoted noted;
  ForkedCopies copies(noted, work.limits, work.work, on_end);
  Messages::send(0, ready, host_name() + "\n" + work.task);
  bool said = false;
  while (!messages_->stopped) {
    while (const auto message = Messages::heard()) {
      messages_->stopped = message->tag == stop;
      if (messages_->stopped) break;
      copies.start(std::stoll(message->text));
    }
    copies.listen(kLook);
    if (InterruptNoted::came() && !said) {
      copies.drain();
      Messages::send(0, interrupted);
      said = true;
    }
  }
}

void Ranks::refuse(const std::string& reason) {
  Messages::send(0, refused, fmt::format("{}, on {}", reason, host_name()));
}

}  // namespace stepsim
