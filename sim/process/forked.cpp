// Pieces of work in turn: as many copies at a time as there may be.
#include "sim/process/forked.hpp"

#include <algorithm>
#include <charconv>
#include <new>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/process/forked_copies.hpp"

namespace stepsim {
namespace {

/// Without a word from a copy: for what should not wait for it.
constexpr std::chrono::milliseconds kPause{500};

/// How long to wait for a word: no longer than there is time for all.
std::chrono::milliseconds pause_of(const ForkLimits& limits) {
  if (!limits.until) return kPause;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*limits.until -
                                                                 std::chrono::steady_clock::now());
  return std::clamp(left, std::chrono::milliseconds{0}, kPause);
}

/// 0 to count - 1.
std::function<std::optional<std::int64_t>()> counting(int count) {
  return [count, next = 0]() mutable {
    return next < count ? std::optional<std::int64_t>(next++) : std::nullopt;
  };
}

/// Thrown where a copy has run out of memory; in a copy itself it is told on as what it is.
struct OutOfMemory : std::bad_alloc {
  const char* what() const noexcept override { return "the machine has no more memory"; }
};

[[noreturn]] void throw_error(const Ended& ended) {
  switch (ended.how) {
    case Ending::user_error:
      throw UserError(ended.text);
    case Ending::simulation_error:
      throw SimulationError(ended.text);
    case Ending::io_error:
      throw IoError(ended.text);
    case Ending::out_of_memory:
      throw OutOfMemory();
    default:
      throw InternalError(ended.text);
  }
}

std::vector<std::optional<Ended>> all_ended(int count, int jobs,
                                            const std::function<std::string(int)>& work,
                                            const std::function<void(int)>& on_end, Copies copies) {
  std::vector<std::optional<Ended>> all(static_cast<std::size_t>(count));
  int done = 0;
  stream_forked(
      counting(count), jobs, {.copies = copies},
      [&](std::int64_t i) { return work(static_cast<int>(i)); },
      [&](Ended ended) {
        all[static_cast<std::size_t>(ended.index)] = std::move(ended);
        ++done;
        if (on_end) on_end(done);
      });
  return all;
}

}  // namespace

bool stream_forked(const std::function<NextPiece()>& next, int jobs, const ForkLimits& limits,
                   const std::function<std::string(std::int64_t)>& work,
                   const std::function<void(Ended)>& on_end,
                   const std::function<void()>& on_pause) {
  const InterruptNoted noted;
  ForkedCopies copies(noted, limits, work, on_end);
  const auto at_a_time = static_cast<std::size_t>(std::max(jobs, 1));
  bool has_more = true;
  const auto is_over = [&] {
    return limits.until && std::chrono::steady_clock::now() >= *limits.until;
  };
  while (!InterruptNoted::came() && !is_over()) {
    bool later = false;
    while (has_more && !later && copies.running() < at_a_time) {
      const NextPiece piece = next();
      has_more = piece.kind != NextPiece::Kind::none;
      later = piece.kind == NextPiece::Kind::later;
      if (piece.kind == NextPiece::Kind::piece) copies.start(piece.index);
    }
    if (!has_more && copies.running() == 0) return true;
    copies.listen(later ? std::chrono::milliseconds{0} : pause_of(limits));
    if (on_pause) on_pause();
  }
  copies.drain();
  return false;
}

std::vector<std::optional<std::string>> run_forked(int count, int jobs,
                                                   const std::function<std::string(int)>& work,
                                                   Copies copies) {
  std::vector<std::optional<std::string>> results;
  for (const auto& ended : all_ended(count, jobs, work, {}, copies)) {
    if (ended && ended->how != Ending::result) throw_error(*ended);
    results.push_back(ended ? std::optional(ended->text) : std::nullopt);
  }
  return results;
}

std::vector<Forked> try_forked(int count, int jobs, const std::function<std::string(int)>& work,
                               const std::function<void(int)>& on_end, Copies copies) {
  std::vector<Forked> all;
  for (const auto& ended : all_ended(count, jobs, work, on_end, copies)) {
    Forked one{.is_done = ended.has_value()};
    if (ended) (ended->how == Ending::result ? one.result : one.error) = ended->text;
    all.push_back(std::move(one));
  }
  return all;
}

std::string text_of(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) text += fmt::format("{} ", number);
  return text;
}

std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end; ++at) {
    double number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ptr == at) throw InternalError("a copy of this process answered '" + text + "'");
    numbers.push_back(number);
    at = read.ptr;
  }
  return numbers;
}

}  // namespace stepsim
