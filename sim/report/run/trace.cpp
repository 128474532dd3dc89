// Writes the timeline as Chrome trace JSON: every event is written as soon as it is known.
#include "sim/report/run/trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "sim/report/run/trace_flows.hpp"
#include "sim/text/file.hpp"

namespace stepsim {
namespace {

/// Nanoseconds as microseconds with three decimals.
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

/// The rows of a rank from top to bottom: the host drives compute, compute drives communication.
std::vector<std::size_t> rows_from_top(const RankTimeline& rank) {
  constexpr std::array kOrder{RowKind::host, RowKind::compute, RowKind::communication,
                              RowKind::copy, RowKind::loader,  RowKind::storage};
  const auto place = [&](std::size_t row) {
    return std::ranges::find(kOrder, rank.rows[row].kind);
  };
  std::vector<std::size_t> rows(rank.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return rows;
}

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
      const bool named = std::ranges::find(wanted, rank.rank) != wanted.end();
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

  /// Begins an event, on a line of its own.
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

  /// Writes the steps as slices of a process of their own, above the ranks and with a number that
  /// no rank here has.
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
      if (const FlowLeg* leg = flows_.at(span)) flow(rank.rank, thread, *leg);
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

  /// Writes what a span of many kernels is made of.
  void mix(const CauseSeconds& seconds) {
    for (std::size_t i = 0; i < kCauses; ++i) {
      if (seconds[i] > 0)
        put(R"(,"{}_us":{})", name_of(static_cast<Cause>(i)), micros(nanoseconds(seconds[i])));
    }
  }

  void flow(int pid, int tid, const FlowLeg& leg) {
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
