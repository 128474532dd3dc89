// Copies what is wanted, and numbers the spans anew.
#include "sim/timeline/chosen.hpp"

#include <algorithm>

namespace stepsim {
namespace {

bool is_wanted(const RankTimeline& rank, const std::vector<int>& ranks) {
  return ranks.empty() || std::ranges::any_of(ranks, [&](int wanted) {
           return wanted == rank.rank || std::ranges::binary_search(rank.members, wanted);
         });
}

struct Window {
  StepRange steps;
  double from, to;

  bool has(const Span& span) const {
    return (span.step >= steps.first && span.step <= steps.last) ||
           (span.end > from && span.start < to);
  }
};

void keep_spans(RankTimeline& rank, const Window& window) {
  std::vector<std::int32_t> place(rank.spans.size(), kNoSpan);
  std::vector<Span> kept;
  for (std::size_t i = 0; i < rank.spans.size(); ++i) {
    if (!window.has(rank.spans[i])) continue;
    place[i] = static_cast<std::int32_t>(kept.size());
    kept.push_back(rank.spans[i]);
  }
  for (Span& span : kept) {
    if (span.blocker != kNoSpan) span.blocker = place[static_cast<std::size_t>(span.blocker)];
  }
  rank.spans = std::move(kept);
}

/// The points of the window, and the last one before it, which holds at its begin.
void keep_memory(RankTimeline& rank, const Window& window) {
  auto& points = rank.memory;
  std::erase_if(points, [&](const MemoryPoint& point) { return point.time > window.to; });
  const auto inside =
      std::ranges::find_if(points, [&](const auto& point) { return point.time > window.from; });
  if (inside - points.begin() > 1) points.erase(points.begin(), inside - 1);
}

}  // namespace

Timeline chosen(const Timeline& timeline, const TimelineChoice& choice) {
  Timeline part{.names = timeline.names,
                .mixes = timeline.mixes,
                .outside = timeline.outside,
                .ranks = {},
                .step_ends = timeline.step_ends,
                .warmup = timeline.warmup};
  for (const RankTimeline& rank : timeline.ranks) {
    if (!is_wanted(rank, choice.ranks)) continue;
    part.ranks.push_back(rank);
    if (!choice.steps) continue;
    const Window window{*choice.steps, timeline.step_start(choice.steps->first),
                        timeline.step_ends[choice.steps->last]};
    keep_spans(part.ranks.back(), window);
    keep_memory(part.ranks.back(), window);
  }
  return part;
}

}  // namespace stepsim
