// Reads the head with simdjson, and refuses one that contradicts itself.
#include "sim/recording/simulated/simulated_head.hpp"

#include <limits>

#include <fmt/format.h>
#include <simdjson.h>

#include "sim/core/error.hpp"
#include "sim/core/hash.hpp"
#include "sim/core/source.hpp"
#include "sim/core/version.hpp"
#include "sim/recording/simulated/trace_format.hpp"

namespace stepsim {
namespace {

namespace dom = simdjson::dom;

/// A step is numbered in 16 bits (Span::step), and times later than a year are none of a few steps.
constexpr std::size_t kMostSteps = std::numeric_limits<std::uint16_t>::max();
constexpr Nanoseconds kLatest = 365LL * 24 * 3600 * 1'000'000'000;

class HeadReader {
 public:
  HeadReader(dom::element root, const std::string& file) : file_(file) {
    if (root["stepsim"].get(root_) != simdjson::SUCCESS) damaged("it has no 'stepsim'");
  }

  SimulatedHead read() {
    SimulatedHead head;
    head.version = text(root_, "version");
    check_format(head.version);
    head.level = text(root_, "level");
    head.scenario = text(root_, "name");
    head.yaml = text(root_, "scenario");
    if (fnv1a_hex(head.yaml) != text(root_, "scenario_hash"))
      damaged("its scenario is not the one that was simulated");
    head.next = text(root_, "next");
    head.replica = static_cast<int>(whole(root_, "replica", std::numeric_limits<int>::max()));
    read_steps(part("steps"), head);
    read_ranks(part("ranks"), head);
    read_engine(part("engine"), head);
    read_hashes(head);
    return head;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const { refuse_damaged(file_, what); }

  void check_format(const std::string& version) const {
    const std::int64_t format = whole(root_, "format", std::numeric_limits<std::int64_t>::max());
    if (format == kTraceFormat) return;
    throw UserError(fmt::format(
        "{}: this is a trace of format {}, which stepsim {} wrote; this is stepsim {}, which reads "
        "format {}: write it again with `stepsim run SCENARIO --trace FILE`",
        quoted_path(file_), format, version, kVersion, kTraceFormat));
  }

  dom::element part(const char* key) const {
    dom::element value;
    if (root_[key].get(value) != simdjson::SUCCESS) damaged(fmt::format("it has no '{}'", key));
    return value;
  }

  std::string text(dom::element in, const char* key) const {
    std::string_view value;
    if (in[key].get(value) != simdjson::SUCCESS)
      damaged(fmt::format("its '{}' is missing or no text", key));
    return std::string(value);
  }

  /// A number from 0 to `most`.
  std::int64_t whole(dom::element in, const char* key, std::int64_t most) const {
    std::int64_t value = 0;
    if (in[key].get(value) != simdjson::SUCCESS || value < 0 || value > most)
      damaged(fmt::format("its '{}' is missing, or no number that it may be", key));
    return value;
  }

  void read_steps(dom::element steps, SimulatedHead& head) const {
    dom::array ends;
    if (steps["ends_ns"].get(ends) != simdjson::SUCCESS) damaged("its steps have no ends");
    for (const dom::element end : ends) {
      Nanoseconds time = 0;
      const Nanoseconds before = head.step_ends.empty() ? 0 : head.step_ends.back();
      if (end.get(time) != simdjson::SUCCESS || time <= before || time > kLatest)
        damaged("its steps do not end one after the other");
      head.step_ends.push_back(time);
    }
    if (head.step_ends.empty() || head.step_ends.size() > kMostSteps) damaged("it has no steps");
    const auto last = static_cast<std::int64_t>(head.step_ends.size()) - 1;
    head.warmup = static_cast<int>(whole(steps, "warmup", last));
    head.steps.last = static_cast<std::size_t>(whole(steps, "last", last));
    head.steps.first =
        static_cast<std::size_t>(whole(steps, "first", static_cast<std::int64_t>(head.steps.last)));
  }

  void read_ranks(dom::element ranks, SimulatedHead& head) const {
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    head.simulated = static_cast<std::size_t>(whole(ranks, "simulated", kMost));
    head.ranks =
        static_cast<std::size_t>(whole(ranks, "here", static_cast<std::int64_t>(head.simulated)));
    if (head.ranks == 0) damaged("it has no ranks");
  }

  void read_engine(dom::element engine, SimulatedHead& head) const {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    head.ranks_total = whole(engine, "ranks_total", kMost);
    head.events = whole(engine, "events", kMost);
    head.kernels = whole(engine, "kernels", kMost);
    head.transfers = whole(engine, "transfers", kMost);
  }

  void read_hashes(SimulatedHead& head) const {
    dom::object hashes;
    if (root_["hashes"].get(hashes) != simdjson::SUCCESS) damaged("it has no 'hashes'");
    for (const auto [name, value] : hashes) {
      std::string_view hash;
      if (value.get(hash) != simdjson::SUCCESS) damaged("a hash of it is no text");
      head.hashes.emplace_back(name, hash);
    }
  }

  dom::element root_;
  const std::string& file_;
};

}  // namespace

SimulatedHead simulated_head(std::string_view text, const std::string& file) {
  dom::parser parser;
  dom::element root;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS)
    refuse_damaged(file, "its head is no JSON");
  return HeadReader(root, file).read();
}

void refuse_damaged(const std::string& file, const std::string& what) {
  throw UserError(fmt::format("{}: this trace of stepsim is damaged: {}", quoted_path(file), what));
}

}  // namespace stepsim
