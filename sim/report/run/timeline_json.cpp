// Writes one step of a timeline in columns, with names and details numbered.
#include "sim/report/run/timeline_json.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/json_number.hpp"
#include "sim/report/run/result_json.hpp"
#include "sim/report/run/trace_flows.hpp"
#include "sim/text/ranges.hpp"
#include "sim/timeline/chosen.hpp"
#include "sim/timeline/partition.hpp"
#include "sim/timeline/words.hpp"

namespace stepsim {
namespace {

/// Numbers texts in the order in which they are first asked for.
class Numbering {
 public:
  int of(std::string_view text) {
    const auto [known, is_new] = numbers_.try_emplace(std::string(text), texts_.size());
    if (is_new) texts_.emplace_back(text);
    return static_cast<int>(known->second);
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::vector<std::string> texts_;
};

class TimelineWriter {
 public:
  TimelineWriter(const Timeline& timeline, std::size_t step, TraceFacts& facts)
      : timeline_(timeline),
        from_(timeline.step_start(step)),
        to_(timeline.step_ends[step]),
        facts_(facts) {}

  Json write(const TimelineHead& head, std::size_t step) {
    Json ranks =
        list_json(timeline_.ranks, [&](const RankTimeline& rank) { return rank_of(rank); });
    return {{"schema", "stepsim.timeline/1"},
            {"scenario", head.scenario},
            {"step", step},
            {"step_time_ns", since_begin(to_)},
            {"level", head.level},
            {"ranks_left_out", head.ranks_left_out},
            {"causes", cause_titles_json()},
            {"names", names_.texts()},
            {"details", list_json(details_.texts(), &TimelineWriter::details_of)},
            {"ranks", std::move(ranks)}};
  }

 private:
  std::int64_t since_begin(double time) const { return nanoseconds(time) - nanoseconds(from_); }

  /// Facts of slices are members of an object, each behind a comma.
  static Json details_of(const std::string& members) {
    return Json::parse(members.empty() ? "{}" : "{" + members.substr(1) + "}");
  }

  Json rank_of(const RankTimeline& rank) {
    return {{"rank", rank.rank},
            {"stage", rank.stage},
            {"multiplicity", rank.multiplicity},
            {"members", ranges_text(rank.members)},
            {"rows", list_json(rank.rows, [&](const Row& row) { return row_of(rank, row); })},
            {"spans", spans_of(rank)},
            {"waits", waits_of_rank(rank)},
            {"memory", memory_of(rank)}};
  }

  Json row_of(const RankTimeline& rank, const Row& row) const {
    Json json{{"name", row.name}, {"kind", name_of(row.kind)}};
    if (row.axis) json["axis"] = name_of(*row.axis);
    json.update(details_of(facts_.of_row(rank.rank, row.name)));
    return json;
  }

  Json spans_of(const RankTimeline& rank) {
    const std::vector<Slice> slices = slices_of(rank);
    const RankFacts facts = facts_.of_rank(timeline_, rank);
    std::vector<std::int64_t> free(rank.rows.size(), nanoseconds(from_));
    Json columns{{"row", Json::array()},         {"gap_ns", Json::array()},
                 {"duration_ns", Json::array()}, {"wait_ns", Json::array()},
                 {"name", Json::array()},        {"cause", Json::array()},
                 {"wait_cause", Json::array()},  {"micro_batch", Json::array()},
                 {"layer", Json::array()},       {"blocker_back", Json::array()},
                 {"message", Json::array()},     {"sends", Json::array()},
                 {"bytes", Json::array()},       {"details", Json::array()}};
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const Span& span = rank.spans[i];
      columns["row"].push_back(span.row);
      columns["gap_ns"].push_back(slices[i].start - std::exchange(free[span.row], slices[i].end));
      columns["duration_ns"].push_back(slices[i].end - slices[i].start);
      columns["wait_ns"].push_back(
          std::max<std::int64_t>(slices[i].start - nanoseconds(span.arrival), 0));
      columns["name"].push_back(names_.of(timeline_.names[span.name]));
      columns["cause"].push_back(static_cast<int>(span.cause));
      columns["wait_cause"].push_back(static_cast<int>(span.wait_cause));
      columns["micro_batch"].push_back(span.micro_batch);
      columns["layer"].push_back(facts.layer(i));
      const bool is_blocked = span.blocker != kNoSpan;
      columns["blocker_back"].push_back(is_blocked ? static_cast<int>(i) - span.blocker : 0);
      columns["message"].push_back(span.message);
      columns["sends"].push_back(span.sends ? 1 : 0);
      columns["bytes"].push_back(std::llround(span.bytes));
      columns["details"].push_back(details_.of(facts.more(i)));
    }
    return columns;
  }

  Json waits_of_rank(const RankTimeline& rank) const {
    Json columns{
        {"gap_ns", Json::array()}, {"duration_ns", Json::array()}, {"cause", Json::array()}};
    std::int64_t free = 0;
    for (const Wait& wait : waits_of(timeline_, rank, from_, to_)) {
      const std::int64_t start = since_begin(wait.start);
      const std::int64_t end = since_begin(wait.end);
      if (end <= start) continue;
      columns["gap_ns"].push_back(start - std::exchange(free, end));
      columns["duration_ns"].push_back(end - start);
      columns["cause"].push_back(static_cast<int>(wait.cause));
    }
    return columns;
  }

  Json memory_of(const RankTimeline& rank) const {
    Json columns{{"time_ns", Json::array()}, {"bytes", Json::array()}};
    for (const MemoryPoint& point : rank.memory) {
      columns["time_ns"].push_back(std::max<std::int64_t>(since_begin(point.time), 0));
      columns["bytes"].push_back(std::llround(point.bytes));
    }
    return columns;
  }

  const Timeline& timeline_;
  double from_, to_;
  TraceFacts& facts_;
  Numbering names_, details_;
};

}  // namespace

std::string timeline_json(const TimelineHead& head, const Timeline& timeline, std::size_t step,
                          TraceFacts& facts) {
  const Timeline part = chosen(timeline, {.ranks = {}, .steps = StepRange{step, step}});
  return TimelineWriter(part, step, facts)
             .write(head, step)
             .dump(-1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace stepsim
