// The timeline as Chrome trace JSON: one pass over the spans for the flows, one to write.
#include "sim/report/trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "sim/report/file.hpp"

namespace stepsim {
namespace {

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

/// Microseconds with three decimals.
std::string micros(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result.append({'\\', c});
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      result += c;
    }
  }
  return result;
}

/// A span in whole nanoseconds.
struct Slice {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

/// The slices of all spans of a rank; on a row each starts where the one before it ended, or later.
std::vector<Slice> slices_of(const RankTimeline& rank) {
  std::vector<std::int64_t> free_from(rank.rows.size(), 0);
  std::vector<Slice> slices;
  slices.reserve(rank.spans.size());
  for (const Span& span : rank.spans) {
    const std::int64_t start = std::max(nanoseconds(span.start), free_from[span.row]);
    const std::int64_t end = std::max(nanoseconds(span.end), start);
    free_from[span.row] = end;
    slices.push_back({start, end});
  }
  return slices;
}

/// Threads of a rank from top to bottom, as rows: the host drives compute, compute drives
/// communication.
std::vector<std::size_t> rows_from_top(const RankTimeline& rank) {
  constexpr std::array kOrder{RowKind::host, RowKind::compute, RowKind::communication,
                              RowKind::copy, RowKind::loader};
  const auto place = [&](std::size_t row) {
    return std::find(kOrder.begin(), kOrder.end(), rank.rows[row].kind);
  };
  std::vector<std::size_t> rows(rank.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return rows;
}

/// An end of a message, and the moment inside its slice at which an arrow starts or ends.
struct MessageEnd {
  const Span* span = nullptr;
  std::int64_t at = 0;
  auto order() const { return std::tuple(span->step, span->message, !span->sends); }
};

/// Arrows from sends to receives, found by their message numbers before anything is written.
class Flows {
 public:
  struct Leg {
    std::uint64_t id = 0;
    std::int64_t at = 0;
    bool sends = false;
  };

  explicit Flows(const std::vector<const RankTimeline*>& ranks) {
    for (const RankTimeline* rank : ranks) collect(*rank);
    std::stable_sort(ends_.begin(), ends_.end(), [](const MessageEnd& a, const MessageEnd& b) {
      return a.order() < b.order();
    });
    join();
    ends_.clear();
  }

  /// The leg at that span, or nullptr.
  const Leg* at(const Span& span) const {
    const auto found = legs_.find(&span);
    return found == legs_.end() ? nullptr : &found->second;
  }

 private:
  /// A leg must lie strictly inside its slice, so a slice of less than 2 ns has none.
  void collect(const RankTimeline& rank) {
    const std::vector<Slice> slices = slices_of(rank);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const Span& span = rank.spans[i];
      if (span.message == 0 || slices[i].end - slices[i].start < 2) continue;
      ends_.push_back({&span, span.sends ? slices[i].start + 1 : slices[i].end - 1});
    }
  }

  /// Neighbours in order that are the two ends of one message become a flow.
  void join() {
    std::uint64_t next_id = 1;
    for (std::size_t i = 0; i + 1 < ends_.size(); ++i) {
      const MessageEnd& from = ends_[i];
      const MessageEnd& to = ends_[i + 1];
      const bool same = from.span->step == to.span->step && from.span->message == to.span->message;
      if (!same || !from.span->sends || to.span->sends || from.at >= to.at) continue;
      legs_[from.span] = {next_id, from.at, true};
      legs_[to.span] = {next_id, to.at, false};
      ++next_id;
    }
  }

  std::vector<MessageEnd> ends_;
  std::unordered_map<const Span*, Leg> legs_;
};

class Writer {
 public:
  Writer(std::ostream& out, const Timeline& timeline, const TraceOptions& options)
      : out_(out), timeline_(timeline), ranks_(chosen(timeline, options)), flows_(ranks_) {
    for (const std::string& name : timeline.names) names_.push_back(escaped(name));
  }

  void write() {
    put(R"({{"displayTimeUnit":"ms","traceEvents":[)");
    steps();
    for (const RankTimeline* rank : ranks_) {
      const std::vector<int> threads = describe(*rank);
      spans(*rank, threads);
      memory(*rank);
    }
    put("\n]}}\n");
    flush();
  }

 private:
  static std::vector<const RankTimeline*> chosen(const Timeline& timeline,
                                                 const TraceOptions& options) {
    std::vector<const RankTimeline*> ranks;
    for (const RankTimeline& rank : timeline.ranks) {
      const auto& wanted = options.ranks;
      const bool named = std::find(wanted.begin(), wanted.end(), rank.rank) != wanted.end();
      if (wanted.empty() || named) ranks.push_back(&rank);
    }
    return ranks;
  }

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    constexpr std::size_t kEnough = 1 << 16;
    if (buffer_.size() >= kEnough) flush();
  }

  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  /// Each event is a line of its own.
  void next_event() {
    put("{}\n", first_ ? "" : ",");
    first_ = false;
  }

  void describe_process(int pid, std::string_view name, int place) {
    next_event();
    put(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":"{}"}}}})", pid, name);
    next_event();
    put(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})", pid,
        place);
  }

  void describe_thread(int pid, int tid, std::string_view name) {
    next_event();
    put(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})", pid, tid,
        escaped(name));
    next_event();
    put(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
        pid, tid, tid);
  }

  /// The steps as slices of a process of their own, above the ranks and with a number that no rank
  /// here has.
  void steps() {
    int pid = 0;
    for (const RankTimeline& rank : timeline_.ranks) pid = std::max(pid, rank.rank + 1);
    describe_process(pid, "steps", -1);
    describe_thread(pid, 1, "step");
    for (std::size_t i = 0; i < timeline_.step_ends.size(); ++i) {
      const std::int64_t start = nanoseconds(timeline_.step_start(i));
      next_event();
      put(R"({{"ph":"X","pid":{},"tid":1,"ts":{},"dur":{},"name":"step {}{}","cat":"step","args":{{"step":{}}}}})",
          pid, micros(start), micros(nanoseconds(timeline_.step_ends[i]) - start), i,
          static_cast<int>(i) < timeline_.warmup ? " (warm-up)" : "", i);
    }
  }

  /// Names the process and its threads; returns the thread of each row.
  std::vector<int> describe(const RankTimeline& rank) {
    const std::string alike = rank.multiplicity > 1 ? fmt::format(" (x{})", rank.multiplicity) : "";
    describe_process(rank.rank, fmt::format("rank {} · stage {}{}", rank.rank, rank.stage, alike),
                     rank.rank);
    std::vector<int> threads(rank.rows.size());
    int thread = 0;
    for (const std::size_t row : rows_from_top(rank)) {
      threads[row] = ++thread;
      describe_thread(rank.rank, thread, rank.rows[row].name);
    }
    return threads;
  }

  void spans(const RankTimeline& rank, const std::vector<int>& threads) {
    const std::vector<Slice> slices = slices_of(rank);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const Span& span = rank.spans[i];
      const int thread = threads[span.row];
      next_event();
      put(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":"{}","cat":"{}","args":{{"step":{})",
          rank.rank, thread, micros(slices[i].start), micros(slices[i].end - slices[i].start),
          names_[span.name], name_of(span.cause), span.step);
      arguments(rank, span);
      put("}}}}");
      if (const Flows::Leg* leg = flows_.at(span)) flow(rank.rank, thread, *leg);
    }
  }

  void arguments(const RankTimeline& rank, const Span& span) {
    if (span.micro_batch >= 0) put(R"(,"micro_batch":{})", span.micro_batch);
    if (span.bytes > 0) put(R"(,"bytes":{:.0f})", span.bytes);
    const std::int64_t wait = nanoseconds(span.start - span.arrival);
    if (wait > 0) put(R"(,"wait_us":{})", micros(wait));
    if (wait > 0 && span.blocker != kNoSpan) {
      put(R"(,"waited_for":"{}")", names_[rank.spans[static_cast<std::size_t>(span.blocker)].name]);
    }
    if (span.mix >= 0) mix(timeline_.mixes[static_cast<std::size_t>(span.mix)]);
  }

  /// What a span of many kernels is made of.
  void mix(const CauseSeconds& seconds) {
    for (std::size_t i = 0; i < kCauses; ++i) {
      if (seconds[i] > 0)
        put(R"(,"{}_us":{})", name_of(static_cast<Cause>(i)), micros(nanoseconds(seconds[i])));
    }
  }

  void flow(int pid, int tid, const Flows::Leg& leg) {
    next_event();
    put(R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"id":{},"cat":"flow","name":"message"{}}})",
        leg.sends ? 's' : 'f', pid, tid, micros(leg.at), leg.id, leg.sends ? "" : R"(,"bp":"e")");
  }

  void memory(const RankTimeline& rank) {
    for (const MemoryPoint& point : rank.memory) {
      next_event();
      put(R"({{"ph":"C","pid":{},"ts":{},"name":"memory","args":{{"GiB":{:.6f}}}}})", rank.rank,
          micros(nanoseconds(point.time)), point.bytes / 0x1p30);
    }
  }

  std::ostream& out_;
  const Timeline& timeline_;
  std::vector<const RankTimeline*> ranks_;
  Flows flows_;
  std::vector<std::string> names_;
  fmt::memory_buffer buffer_;
  bool first_ = true;
};

}  // namespace

void write_trace(std::ostream& out, const Timeline& timeline, const TraceOptions& options) {
  Writer(out, timeline, options).write();
}

void save_trace(const std::string& path, const Timeline& timeline, const TraceOptions& options) {
  save_file(path, [&](std::ostream& out) { write_trace(out, timeline, options); });
}

}  // namespace stepsim
