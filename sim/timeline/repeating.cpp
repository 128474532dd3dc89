// The ends of two steps side by side.
#include "sim/timeline/repeating.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace stepsim {
namespace {

constexpr double kExact = 1e-9;  // share of a step: what is left of rounding

/// What a task leaves, relative to the boundary of its step.
struct Trace {
  std::size_t rank = 0;
  std::uint16_t row = 0;
  std::uint32_t name = 0;
  std::int32_t micro_batch = 0;
  double begin = 0, end = 0;
};

/// The end of one step on all ranks, looked at from the back: a step has many spans, its end few.
class StepEnd {
 public:
  StepEnd(const Timeline& timeline, std::uint16_t step) : ranks_(timeline.ranks), step_(step) {
    for (const RankTimeline& rank : ranks_) {
      last_.push_back(std::find_if(rank.spans.rbegin(), rank.spans.rend(),
                                   [step](const Span& span) { return span.step == step; }));
    }
  }

  /// When the first host's last wait of the step ends: nothing of the next step happens before.
  std::optional<double> boundary() const {
    std::optional<double> first;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const auto wait = last_wait(rank);
      if (!wait) return std::nullopt;
      first = std::min(first.value_or(*wait), *wait);
    }
    return first;
  }

  /// When the oldest task began that is under way at the boundary.
  double oldest_begin(double boundary) const {
    double oldest = boundary;
    visit_all([&](std::size_t rank, const Span& span) {
      if (span.end <= boundary) return false;
      if (kind_of(rank, span) != RowKind::host) oldest = std::min(oldest, begin_of(rank, span));
      return true;
    });
    return oldest;
  }

  std::vector<Trace> traces_after(double from, double boundary, double tolerance) const {
    std::vector<Trace> traces;
    visit_all([&](std::size_t rank, const Span& span) {
      if (span.end <= from + tolerance) return false;
      // What had begun before has the same past wherever it ends alike.
      const double begin = std::max(begin_of(rank, span), from);
      traces.push_back(
          {rank, span.row, span.name, span.micro_batch, begin - boundary, span.end - boundary});
      return true;
    });
    // A row's spans are in its own order, which rounding cannot change.
    std::ranges::stable_sort(traces, [](const Trace& a, const Trace& b) {
      return std::tie(a.rank, a.row) < std::tie(b.rank, b.row);
    });
    return traces;
  }

 private:
  RowKind kind_of(std::size_t rank, const Span& span) const {
    return ranks_[rank].rows[span.row].kind;
  }

  /// From when on it slows others: a collective's kernel from its launch on.
  double begin_of(std::size_t rank, const Span& span) const {
    return kind_of(rank, span) == RowKind::communication ? span.arrival : span.start;
  }

  /// The rank's spans of the step, the last one first, until `visit` says false.
  template <class Visit>
  void visit_back(std::size_t rank, Visit visit) const {
    for (auto span = last_[rank]; span != ranks_[rank].spans.rend(); ++span) {
      if (span->step == step_ && !visit(rank, *span)) return;
    }
  }
  template <class Visit>
  void visit_all(Visit visit) const {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) visit_back(rank, visit);
  }

  std::optional<double> last_wait(std::size_t of) const {
    std::optional<double> last;
    visit_back(of, [&](std::size_t rank, const Span& span) {
      if (kind_of(rank, span) == RowKind::host) last = span.end;
      return !last;
    });
    return last;
  }

  const std::vector<RankTimeline>& ranks_;
  std::uint16_t step_;
  std::vector<std::vector<Span>::const_reverse_iterator> last_;  // by rank
};

}  // namespace

bool last_step_repeats(const Timeline& timeline) {
  if (timeline.step_ends.size() < 2) return false;
  const auto number = static_cast<std::uint16_t>(timeline.step_ends.size() - 1);
  const StepEnd last(timeline, number), before(timeline, static_cast<std::uint16_t>(number - 1));
  const auto end = last.boundary(), begin = before.boundary();
  if (!end || !begin) return false;
  const double tolerance = kExact * (*end - *begin);
  const auto traces = last.traces_after(last.oldest_begin(*end), *end, tolerance);
  const auto others = before.traces_after(before.oldest_begin(*begin), *begin, tolerance);
  const auto alike = [tolerance](const Trace& a, const Trace& b) {
    return a.rank == b.rank && a.row == b.row && a.name == b.name &&
           a.micro_batch == b.micro_batch && std::abs(a.begin - b.begin) <= tolerance &&
           std::abs(a.end - b.end) <= tolerance;
  };
  return std::equal(traces.begin(), traces.end(), others.begin(), others.end(), alike);
}

}  // namespace stepsim
