// Pieces of work in copies of this process, several at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stepsim {

/// Whether each piece has a fresh copy of this process, or copies are kept for further pieces, which
/// spares most of a short piece's time. What work leaves behind in a kept copy, such as a cache,
/// must not change its results. A copy that has loaded SimGrid is not kept: its clock goes on.
enum class Copies : std::uint8_t { fresh, kept };

/// Calls `work` with 0 to count - 1, each in a copy of this process, at most `jobs` at a
/// time, and returns what they return, in order. Nothing stands for those that Ctrl-C (SIGINT)
/// prevented; the signal ends the copies, not the caller. Throws the first error of the copies, in
/// order, as the kind of error that it is.
std::vector<std::optional<std::string>> run_forked(int count, int jobs,
                                                   const std::function<std::string(int)>& work,
                                                   Copies copies = Copies::fresh);

/// What became of one piece of work.
struct Forked {
  bool is_done = false;  ///< false: Ctrl-C came first
  std::string result;
  std::string error;  ///< why there is no result; empty: there is one
};

/// Calls `work` as run_forked does, but one failure does not end the others: a copy that throws or
/// crashes has an error. `on_end` is called after each with the number of those that ended.
std::vector<Forked> try_forked(int count, int jobs, const std::function<std::string(int)>& work,
                               const std::function<void(int)>& on_end = {},
                               Copies copies = Copies::fresh);

/// How a piece of work ended.
enum class Ending : std::uint8_t {
  result,
  user_error,
  simulation_error,
  io_error,
  internal_error,
  out_of_memory,  ///< the copy asked for more than it may have
  timed_out,
  crashed  ///< by a signal, or without an answer
};

struct Ended {
  std::int64_t index = 0;
  Ending how = Ending::result;
  std::string text;  ///< the result, or why there is none
};

/// What a piece of work may take; 0: as much as it likes.
struct ForkLimits {
  double seconds = 0;
  double bytes = 0;  ///< bytes of address space, beyond what this process has now
  /// When all of them together have to end: what is under way then is given up.
  std::optional<std::chrono::steady_clock::time_point> until;
  /// Where memory is limited copies are fresh all the same: what one has left must not count.
  Copies copies = Copies::fresh;
};

/// What is to be done next: a piece of work; nothing yet, ask again; or nothing more.
struct NextPiece {
  enum class Kind : std::uint8_t { piece, later, none };
  Kind kind = Kind::none;
  std::int64_t index = 0;

  NextPiece(std::optional<std::int64_t> one)  // NOLINT(google-explicit-constructor)
      : kind(one ? Kind::piece : Kind::none), index(one.value_or(0)) {}
  static NextPiece later() {
    NextPiece next{std::nullopt};
    next.kind = Kind::later;
    return next;
  }
};

/// Does work of any number in forked copies: `next` says what is to be done, until it says nothing
/// more, and `on_end` is called with each answer as it comes, and `on_pause` now and then, at the
/// latest half a second after the last call. A `next` that takes long comes back now and then, so
/// that signals and limits are seen to. Nothing is kept. Returns false where Ctrl-C or SIGTERM
/// came, or the time for all was over, before the end; what was under way then is given up.
bool stream_forked(const std::function<NextPiece()>& next, int jobs, const ForkLimits& limits,
                   const std::function<std::string(std::int64_t)>& work,
                   const std::function<void(Ended)>& on_end,
                   const std::function<void()>& on_pause = {});

/// Numbers as an answer: the shortest text that reads back as the same ones.
std::string text_of(const std::vector<double>& numbers);
/// Throws InternalError where it is no such text.
std::vector<double> numbers_of(const std::string& text);

}  // namespace stepsim
