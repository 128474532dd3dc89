// Reads what nsys says of its own recording.
#include "sim/recording/nsys/reader_notes.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "sim/core/source.hpp"
#include "sim/recording/interval_set.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kMostDiagnostics = 3;
constexpr std::size_t kLongestDiagnostic = 200;

/// CUpti_ActivityOverheadKind, CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL.
constexpr std::int64_t kBufferFull = 8;

/// Words of "Not all CUDA events might have been collected" and the like.
constexpr std::array<std::string_view, 4> kWordsOfLoss{"Not all ", "lost", "dropped", "discarded"};

bool tells_of_loss(std::string_view text) {
  return std::ranges::any_of(kWordsOfLoss,
                             [&](std::string_view word) { return text.find(word) != text.npos; });
}

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, kLongestDiagnostic));
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < 0x20; }, ' ');
  return line;
}

}  // namespace

std::vector<std::string> sentences_about(NsysDatabase& database) {
  std::vector<std::string> say;
  std::set<std::string> losses;
  database.each("DIAGNOSTIC_EVENT", {"text"}, [&](const NsysRow& row) {
    if (tells_of_loss(row.text(0)) && losses.size() < kMostDiagnostics)
      losses.insert(one_line(row.text(0)));
  });
  for (const std::string& loss : losses)
    say.push_back(fmt::format("nsys says {}: events are missing.", quoted(loss)));
  std::vector<Interval> full;
  database.each("CUPTI_ACTIVITY_KIND_OVERHEAD", {"start", "end", "overheadType"},
                [&](const NsysRow& row) {
                  if (row.number(2) == kBufferFull) full.push_back({row.number(0), row.number(1)});
                });
  const IntervalSet times = united(std::move(full));
  if (!times.empty())
    say.push_back(fmt::format(
        "The host waited {} because a buffer of commands was full: launches that seem late or long "
        "then are held up by the queue of the GPU.",
        humanise(Seconds{static_cast<double>(length(times)) * 1e-9}).text()));
  return say;
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
