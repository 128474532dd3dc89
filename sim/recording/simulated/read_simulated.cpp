// Takes the file apart while it is read: its head, then its events.
#include "sim/recording/simulated/read_simulated.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/core/system/files_read.hpp"
#include "sim/core/version.hpp"
#include "sim/recording/kineto/byte_source.hpp"
#include "sim/recording/kineto/json_pieces.hpp"
#include "sim/recording/simulated/rebuilt_timeline.hpp"
#include "sim/recording/simulated/simulated_event.hpp"
#include "sim/recording/simulated/simulated_head.hpp"
#include "sim/timeline/pace.hpp"

namespace stepsim {
namespace {

enum class Generation { other, without_head, with_head };

/// What the file begins with, without blanks.
std::string beginning_of(const std::string& path) {
  std::array<char, 2048> head{};
  const auto bytes = open_bytes(path);
  std::size_t size = 0, got = 0;
  while (size < head.size() && (got = bytes->read(&head[size], head.size() - size)) > 0)
    size += got;
  std::string text(head.data(), size);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return text;
}

/// Until the head came, a trace began with the process of its steps.
Generation generation_of(const std::string& path) {
  const std::string text = beginning_of(path);
  if (text.find(R"("otherData":{"stepsim":)") != std::string::npos) return Generation::with_head;
  const bool is_own =
      text.starts_with(R"({"displayTimeUnit":"ms","traceEvents":[{"ph":"M","pid":)") &&
      text.find(R"("args":{"name":"steps"})") != std::string::npos;
  return is_own ? Generation::without_head : Generation::other;
}

std::string step_range(const StepRange& steps) {
  return steps.first == steps.last ? fmt::format("step {}", steps.first)
                                   : fmt::format("steps {} to {}", steps.first, steps.last);
}

std::vector<std::string> not_known_of(const SimulatedHead& head) {
  std::vector<std::string> sentences;
  if (head.ranks < head.simulated)
    sentences.push_back(fmt::format(
        "what other ranks did: the trace has {} of {} that were simulated (--trace-ranks), and "
        "the slowest, stragglers and means are those of these",
        head.ranks, head.simulated));
  if (head.steps.first > static_cast<std::size_t>(head.warmup) ||
      head.steps.last + 1 < head.step_ends.size())
    sentences.push_back(fmt::format(
        "how other steps went: the trace has {} (--trace-steps), where {} were simulated{}",
        step_range(head.steps), head.step_ends.size(),
        head.steps.last < static_cast<std::size_t>(head.warmup) ? ", and all of these warm up"
                                                                : ""));
  return sentences;
}

}  // namespace

bool is_simulated(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) &&
         generation_of(path) != Generation::other;
}

SimulatedTrace read_simulated(const std::string& path) {
  if (generation_of(path) == Generation::without_head)
    throw UserError(fmt::format(
        "{}: an older stepsim wrote this trace, without the scenario that it is of; this is "
        "stepsim {}: write it again with `stepsim run SCENARIO --trace FILE`",
        quoted_path(path), kVersion));
  note_read(path);
  const auto bytes = open_bytes(path);
  JsonPieces pieces(*bytes, "traceEvents", path);
  SimulatedTrace trace{.file = path, .head = {}, .timeline = {}, .not_known = {}};
  SimulatedParser parser;
  std::optional<RebuiltTimeline> rebuilt;
  for (JsonPiece piece = pieces.next(); piece.kind != JsonPiece::Kind::end; piece = pieces.next()) {
    if (piece.kind == JsonPiece::Kind::member) {
      if (piece.key != "otherData") continue;
      if (rebuilt) refuse_damaged(path, "it has two heads");
      trace.head = simulated_head(piece.text, path);
      rebuilt.emplace(trace.head, path);
      continue;
    }
    if (!rebuilt) refuse_damaged(path, "its events come before its head");
    const SimulatedEvent* event = parser.event(piece.text);
    if (event == nullptr) refuse_damaged(path, "an event of it is no JSON");
    rebuilt->add(*event);
  }
  if (pieces.is_cut() || bytes->is_cut()) refuse_damaged(path, "its text ends before it should");
  if (!rebuilt) refuse_damaged(path, "it has no head");
  trace.timeline = rebuilt->finished();
  trace.timeline.paces = paces_of(trace.timeline);
  trace.not_known = not_known_of(trace.head);
  return trace;
}

}  // namespace stepsim
