// Reads what nsys says of its own recording.
#include "sim/recording/nsys/reader_notes.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "sim/core/source.hpp"
#include "sim/recording/nsys/nsys_ids.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kMostDiagnostics = 3;

/// "Command buffer full" among nsys's own numbers of overheadType, which are not CUPTI's.
constexpr std::int64_t kBufferFull = 8;

/// Words of "Not all CUDA events might have been collected" and the like.
constexpr std::array<std::string_view, 4> kWordsOfLoss{"Not all ", "lost", "dropped", "discarded"};

/// What else nsys records, and nobody asks for here.
constexpr std::array<std::string_view, 7> kOtherTraces{"OpenGL", "Vulkan",  "Direct", "OS runtime",
                                                       "OpenMP", "OpenACC", "MPI"};

bool has_any(std::string_view text, const auto& words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return text.find(word) != text.npos; });
}

bool tells_of_loss(std::string_view text) {
  return has_any(text, kWordsOfLoss) && !has_any(text, kOtherTraces);
}

}  // namespace

std::vector<std::string> about_lost_events(NsysDatabase& database) {
  std::set<std::string> losses;
  database.each("DIAGNOSTIC_EVENT", {"text"}, [&](const NsysRow& row) {
    const std::string text = row.text(0);
    if (tells_of_loss(text) && losses.size() < kMostDiagnostics) losses.insert(quoted(text));
  });
  std::vector<std::string> say;
  for (const std::string& loss : losses)
    say.push_back(fmt::format("nsys says {}: events are missing.", loss));
  return say;
}

std::map<std::uint64_t, std::vector<Interval>> full_buffers(NsysDatabase& database) {
  std::map<std::uint64_t, std::vector<Interval>> waits;
  database.each("CUPTI_ACTIVITY_KIND_OVERHEAD", {"start", "end", "overheadType", "globalTid"},
                [&](const NsysRow& row) {
                  const auto time = moments_in(row);
                  if (row.number(2) == kBufferFull && time)
                    waits[process_of(static_cast<std::uint64_t>(row.number(3)))].push_back(*time);
                });
  return waits;
}

std::string about_full_buffers(std::vector<Interval> waits) {
  const Nanoseconds time = length(united(std::move(waits)));
  return fmt::format(
      "The host waited {} because a buffer of commands was full: launches that seem late or long "
      "then are held up by the queue of the GPU.",
      humanise(Seconds{static_cast<double>(time) * 1e-9}).text());
}

std::string about_whole_graphs(std::size_t replays) {
  return fmt::format(
      "{} of CUDA graphs {} recorded without {} kernels: the time counts as computation, and "
      "communication and gaps within are not known; nsys profile --cuda-graph-trace=node records "
      "them.",
      replays == 1 ? "1 replay" : fmt::format("{} replays", replays), replays == 1 ? "was" : "were",
      replays == 1 ? "its" : "their");
}

std::string about_steps_taken(const std::string& first) {
  return fmt::format("NVTX ranges such as {} are taken for steps.", quoted(first));
}

}  // namespace stepsim
