// Writes the timeline as Chrome trace JSON: every event is written as soon as it is known.
#include "sim/report/run/trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/recording/simulated/read_simulated.hpp"
#include "sim/report/run/trace_facts.hpp"
#include "sim/report/run/trace_flows.hpp"
#include "sim/report/run/trace_head.hpp"
#include "sim/text/digits.hpp"
#include "sim/text/file.hpp"
#include "sim/text/ranges.hpp"
#include "sim/timeline/words.hpp"

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

constexpr double kNoise = 1e-12;  // seconds that differences of dates are off by rounding

/// How much of the time before a moment a rank computes.
class ComputeTime {
 public:
  ComputeTime(const RankTimeline& rank, const std::vector<Slice>& slices) {
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (rank.rows[rank.spans[i].row].kind != RowKind::compute) continue;
      ends_.push_back(slices[i].end);
      starts_.push_back(slices[i].start);
      before_.push_back(sum_);
      sum_ += slices[i].end - slices[i].start;
    }
  }
  std::int64_t until(std::int64_t moment) const {
    const auto next =
        static_cast<std::size_t>(std::ranges::upper_bound(ends_, moment) - ends_.begin());
    if (next == ends_.size()) return sum_;
    return before_[next] + std::max<std::int64_t>(moment - starts_[next], 0);
  }
  /// The part of a slice in which the rank does not compute.
  std::int64_t outside(const Slice& slice) const {
    return slice.end - slice.start - (until(slice.end) - until(slice.start));
  }

 private:
  std::vector<std::int64_t> starts_, ends_, before_;
  std::int64_t sum_ = 0;
};

/// What a row's slices have in common unless they say otherwise: what its first one has.
struct RowUsual {
  Cause cause = Cause::forward, wait_cause = Cause::sync_wait;
  std::int32_t last = kNoSpan;  ///< the span before on the row
};

std::vector<RowUsual> usual_of(const RankTimeline& rank) {
  std::vector<RowUsual> usual(rank.rows.size());
  for (auto span = rank.spans.rbegin(); span != rank.spans.rend(); ++span)
    usual[span->row] = {span->cause, span->wait_cause};
  return usual;
}

class Writer {
 public:
  Writer(std::ostream& out, const Timeline& timeline, const TraceOptions& options)
      : out_(out), timeline_(timeline), options_(options), flows_(ranks_of(timeline)) {
    for (const std::string& name : timeline.names) names_.push_back(escaped(name));
  }

  /// Writes the document. `simulated`: ranks of the simulation, written or not.
  void write(std::size_t simulated) {
    put("{{");
    if (options_.head != nullptr) {
      put(R"("otherData":{},{})",
          trace_head_json(*options_.head, timeline_, options_.choice, simulated), "\n");
    }
    put(R"("displayTimeUnit":"ms","traceEvents":[)");
    steps();
    for (const RankTimeline& rank : timeline_.ranks) rank_events(rank);
    put("\n]}}\n");
    flush();
  }

 private:
  static std::vector<const RankTimeline*> ranks_of(const Timeline& timeline) {
    std::vector<const RankTimeline*> ranks;
    for (const RankTimeline& rank : timeline.ranks) ranks.push_back(&rank);
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

  /// Names a process; `more` are further arguments.
  void describe_process(int pid, std::string_view name, int place, std::string_view more = "") {
    next_event();
    put(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":"{}"{}}}}})", pid, name, more);
    next_event();
    put(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})", pid,
        place);
  }

  void describe_thread(int pid, int tid, std::string_view name, std::string_view more = "") {
    next_event();
    put(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"{}}}}})", pid, tid,
        escaped(name), more);
    next_event();
    put(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
        pid, tid, tid);
  }

  std::size_t first_step() const {
    return options_.choice.steps ? options_.choice.steps->first : 0;
  }
  std::size_t end_of_steps() const {
    return options_.choice.steps ? options_.choice.steps->last + 1 : timeline_.step_ends.size();
  }

  /// Writes the steps as slices of a process of their own, above the ranks and with a number that
  /// no rank here has.
  void steps() {
    int pid = 0;
    for (const RankTimeline& rank : timeline_.ranks) pid = std::max(pid, rank.rank + 1);
    describe_process(pid, "steps", -1);
    describe_thread(pid, 1, "step");
    for (std::size_t i = first_step(); i < end_of_steps(); ++i) {
      const std::int64_t start = nanoseconds(timeline_.step_start(i));
      next_event();
      put(R"({{"ph":"X","pid":{},"tid":1,"ts":{},"dur":{},"name":"step {}{}","cat":"step","args":{{"step":{}}}}})",
          pid, micros(start), micros(nanoseconds(timeline_.step_ends[i]) - start), i,
          static_cast<int>(i) < timeline_.warmup ? " (warm-up)" : "", i);
    }
  }

  void rank_events(const RankTimeline& rank) {
    usual_ = usual_of(rank);
    const std::vector<int> threads = describe(rank);
    spans(rank, threads);
    memory(rank);
  }

  /// Names the process and its threads; returns the thread of each row.
  std::vector<int> describe(const RankTimeline& rank) {
    const std::string alike = rank.multiplicity > 1 ? fmt::format(" (x{})", rank.multiplicity) : "";
    describe_process(
        rank.rank, fmt::format("rank {} · stage {}{}", rank.rank, rank.stage, alike), rank.rank,
        fmt::format(R"(,"rank":{},"stage":{},"multiplicity":{},"members":"{}","slices":{})",
                    rank.rank, rank.stage, rank.multiplicity, ranges_text(rank.members),
                    rank.spans.size()));
    std::vector<int> threads(rank.rows.size());
    int thread = 0;
    for (const std::size_t row : rows_from_top(rank)) {
      threads[row] = ++thread;
      describe_thread(rank.rank, thread, rank.rows[row].name, row_arguments(rank, row));
    }
    return threads;
  }

  std::string row_arguments(const RankTimeline& rank, std::size_t row) const {
    const Row& of = rank.rows[row];
    std::string text = fmt::format(R"(,"row":{},"kind":"{}")", row, name_of(of.kind));
    if (of.axis) text += fmt::format(R"(,"axis":"{}")", name_of(*of.axis));
    if (options_.facts != nullptr) text += options_.facts->of_row(rank.rank, of.name);
    return text + fmt::format(R"(,"cause":"{}","wait":"{}")", name_of(usual_[row].cause),
                              name_of(usual_[row].wait_cause));
  }

  void spans(const RankTimeline& rank, const std::vector<int>& threads) {
    const std::vector<Slice> slices = slices_of(rank);
    const ComputeTime computing(rank, slices);
    const RankFacts facts =
        options_.facts == nullptr ? RankFacts{} : options_.facts->of_rank(timeline_, rank);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const Span& span = rank.spans[i];
      const int thread = threads[span.row];
      const RowKind kind = rank.rows[span.row].kind;
      next_event();
      put(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":"{}","cat":"{}","args":{{"step":{})",
          rank.rank, thread, micros(slices[i].start), micros(slices[i].end - slices[i].start),
          names_[span.name], kind == RowKind::compute ? name_of(span.cause) : name_of(kind),
          span.step);
      if (span.micro_batch >= 0) put(R"(,"micro_batch":{})", span.micro_batch);
      if (facts.layer(i) >= 0) put(R"(,"layer":{})", facts.layer(i));
      put("{}", facts.more(i));
      if (kind == RowKind::communication) {
        const std::int64_t exposed = computing.outside(slices[i]);
        if (exposed > 0) put(R"(,"exposed_us":{})", micros(exposed));
      }
      waiting(rank, i, slices[i]);
      details(span, kind);
      put("}}}}");
      usual_[span.row].last = static_cast<std::int32_t>(i);
      if (const FlowLeg* leg = flows_.at(span)) flow(rank.rank, thread, *leg);
    }
  }

  /// What the span waited for, and how long.
  void waiting(const RankTimeline& rank, std::size_t index, const Slice& slice) {
    const Span& span = rank.spans[index];
    const RowUsual& usual = usual_[span.row];
    const std::int64_t wait = slice.start - nanoseconds(span.arrival);
    if (wait > 0) put(R"(,"wait_us":{})", micros(wait));
    if (wait > 0 && span.blocker != kNoSpan)
      put(R"(,"waited_for":"{}")", names_[rank.spans[static_cast<std::size_t>(span.blocker)].name]);
    if (span.blocker != usual.last) {
      const auto here = static_cast<std::int32_t>(index);
      put(R"(,"blocker":{})", span.blocker == kNoSpan ? 0 : span.blocker - here);
    }
    if (span.wait_cause != usual.wait_cause) put(R"(,"wait":"{}")", name_of(span.wait_cause));
  }

  void details(const Span& span, RowKind kind) {
    if (span.bytes > 0) put(R"(,"bytes":{})", digits(span.bytes));
    if (kind != RowKind::compute && span.cause != usual_[span.row].cause)
      put(R"(,"cause":"{}")", name_of(span.cause));
    if (span.message != 0) put(R"(,"message":{})", span.message);
    if (span.operation != span.message) put(R"(,"operation":{})", span.operation);
    if (span.sends) put(R"(,"sends":true)");
    if (span.contention > kNoise) put(R"(,"contention_us":{})", digits(span.contention * 1e6));
    if (span.outside != kInRange) put(R"(,"outside":"{}")", names_[span.outside]);
    if (span.mix >= 0) mix(span);
  }

  /// Writes what a span of many kernels is made of.
  void mix(const Span& span) {
    const auto index = static_cast<std::size_t>(span.mix);
    const CauseSeconds& seconds = timeline_.mixes[index];
    const auto in_micros = [&](double time) { return digits(time * span.pace * 1e6); };
    for (std::size_t i = 0; i < kCauses; ++i) {
      if (seconds[i] > 0)
        put(R"(,"{}_us":{})", name_of(static_cast<Cause>(i)), in_micros(seconds[i]));
    }
    if (index >= timeline_.outside.size() || timeline_.outside[index].empty()) return;
    put(R"(,"outside":{{)");
    bool is_first = true;
    for (const OutsideSeconds& side : timeline_.outside[index]) {
      put(R"({}"{}":{})", is_first ? "" : ",", names_[side.name], in_micros(side.seconds));
      is_first = false;
    }
    put("}}");
  }

  void flow(int pid, int tid, const FlowLeg& leg) {
    next_event();
    put(R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"id":{},"cat":"flow","name":"message"{}}})",
        leg.sends ? 's' : 'f', pid, tid, micros(leg.at), leg.id, leg.sends ? "" : R"(,"bp":"e")");
  }

  /// Writes memory in GiB, with nine decimals: to the byte.
  void memory(const RankTimeline& rank) {
    for (const MemoryPoint& point : rank.memory) {
      next_event();
      put(R"({{"ph":"C","pid":{},"ts":{},"name":"memory","args":{{"GiB":{:.9f}}}}})", rank.rank,
          micros(nanoseconds(point.time)), point.bytes / 0x1p30);
    }
  }

  std::ostream& out_;
  const Timeline& timeline_;
  const TraceOptions& options_;
  Flows flows_;
  std::vector<std::string> names_;
  std::vector<RowUsual> usual_;  // by row of the rank that is written
  fmt::memory_buffer buffer_;
  bool first_ = true;
};

}  // namespace

void write_trace(std::ostream& out, const Timeline& timeline, const TraceOptions& options) {
  const std::size_t simulated = timeline.ranks.size();
  if (options.choice.is_all()) return Writer(out, timeline, options).write(simulated);
  const Timeline part = chosen(timeline, options.choice);
  Writer(out, part, options).write(simulated);
}

void save_trace(const Output& output, const Timeline& timeline, const TraceOptions& options) {
  save_file(output, [&](std::ostream& out) { write_trace(out, timeline, options); });
}

Maker trace_maker() {
  return {"a trace of stepsim", [](const std::string& path) {
            try {
              return is_simulated(path);
            } catch (const IoError&) {  // damaged, or locked: not known to be one
              return false;
            }
          }};
}

}  // namespace stepsim
