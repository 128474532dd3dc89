// The trace, read back and held against the rules by which Perfetto imports it.
#include "sim/report/run/trace.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "sim/core/error.hpp"
#include "sim/text/file.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;
using nlohmann::json;

namespace {

/// Two stages: stage 0 computes and sends message 1, stage 1 receives and computes; a second
/// message has only its sending end, and a third takes no time.
// NOLINTNEXTLINE(readability-function-size): a list of values
Timeline two_stages() {
  Timeline timeline;
  timeline.names = {"forward", "send", "receive", "say \"hi\"\n", "launch"};
  CauseSeconds mix{};
  mix[static_cast<std::size_t>(Cause::forward)] = 8e-6;
  mix[static_cast<std::size_t>(Cause::launch_gap)] = 2e-6;
  timeline.mixes = {mix};
  timeline.step_ends = {3e-5, 6e-5};
  timeline.warmup = 1;

  RankTimeline first{.rank = 0, .stage = 0, .multiplicity = 128};
  first.rows = {{"compute", RowKind::compute},
                {"pipeline", RowKind::communication, Axis::pipeline},
                {"host", RowKind::host}};
  // 1/3 us apart, so that ends and starts round to different sides.
  first.spans = {
      {.arrival = 0, .start = 0, .end = 1e-6 / 3, .name = 4, .row = 2, .cause = Cause::launch_gap},
      {.arrival = 0,
       .start = 1e-6 / 3,
       .end = 1e-5,
       .name = 0,
       .blocker = 0,
       .mix = 0,
       .micro_batch = 3,
       .row = 0},
      {.arrival = 1e-5,
       .start = 1e-5 + 4e-10,
       .end = 1.2e-5,
       .name = 1,
       .message = 1,
       .bytes = 4096,
       .row = 1,
       .cause = exposed(Axis::pipeline),
       .sends = true},
      {.arrival = 1e-5, .start = 1e-5 - 4e-10, .end = 2e-5, .name = 3, .row = 0, .step = 0},
      {.arrival = 2e-5,
       .start = 2e-5,
       .end = 2.5e-5,
       .name = 1,
       .message = 2,
       .row = 1,
       .sends = true},
      {.arrival = 2.6e-5,
       .start = 2.6e-5,
       .end = 2.6e-5,
       .name = 1,
       .message = 3,
       .row = 1,
       .sends = true},
  };
  first.memory = {{0, 0x1p30}, {1e-5, 1.5 * 0x1p30}};

  RankTimeline second{.rank = 512, .stage = 1};
  second.rows = {{"loader 0", RowKind::loader},
                 {"pipeline", RowKind::communication, Axis::pipeline},
                 {"compute", RowKind::compute}};
  second.spans = {
      {.arrival = 0,
       .start = 1e-5,
       .end = 1.2e-5,
       .name = 2,
       .message = 1,
       .bytes = 4096,
       .row = 1,
       .cause = exposed(Axis::pipeline),
       .wait_cause = Cause::pipeline_bubble},
      {.arrival = 1.2e-5, .start = 1.2e-5, .end = 2e-5, .name = 0, .blocker = 0, .row = 2},
      {.arrival = 2.6e-5, .start = 2.6e-5, .end = 2.6e-5, .name = 2, .message = 3, .row = 1},
  };
  timeline.ranks = {first, second};
  return timeline;
}

std::string trace_of(const Timeline& timeline, const TraceOptions& options = {}) {
  std::ostringstream out;
  write_trace(out, timeline, options);
  return out.str();
}

json events_of(const Timeline& timeline, const TraceOptions& options = {}) {
  return json::parse(trace_of(timeline, options)).at("traceEvents");
}

std::int64_t ns(const json& micros) { return std::llround(micros.get<double>() * 1000); }

std::vector<json> of_phase(const json& events, const std::string& phase) {
  std::vector<json> result;
  for (const json& event : events) {
    if (event.at("ph") == phase) result.push_back(event);
  }
  return result;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string inflated(const std::string& path) {
  std::string text(1 << 16, '\0');
  gzFile in = gzopen(path.c_str(), "rb");
  const int size = gzread(in, text.data(), static_cast<unsigned>(text.size()));
  gzclose(in);
  text.resize(static_cast<std::size_t>(std::max(0, size)));
  return text;
}

}  // namespace

TEST_CASE("slices of one thread never overlap, whatever the rounding") {
  std::map<std::pair<int, int>, std::int64_t> free_from;
  const auto slices = of_phase(events_of(two_stages()), "X");
  CHECK(slices.size() == 9 + 2);
  for (const json& slice : slices) {
    std::int64_t& end = free_from[{slice.at("pid"), slice.at("tid")}];
    CHECK(ns(slice.at("ts")) >= end);
    CHECK(ns(slice.at("dur")) >= 0);
    end = ns(slice.at("ts")) + ns(slice.at("dur"));
  }
}

TEST_CASE("times are microseconds with three decimals") {
  const std::string text = trace_of(two_stages());
  CHECK(text.find(R"("ts":0.333,"dur":9.667,"name":"forward")") != std::string::npos);
  for (std::size_t at = text.find("\"ts\":"); at != std::string::npos;
       at = text.find("\"ts\":", at + 1)) {
    const std::size_t point = text.find('.', at);
    CHECK(text.find_first_not_of("0123456789", point + 1) == point + 4);
  }
}

TEST_CASE("processes and threads have names and an order") {
  const json events = events_of(two_stages());
  std::map<std::string, std::map<int, std::string>> threads;
  std::map<int, std::string> processes;
  std::map<int, int> places;
  for (const json& event : of_phase(events, "M")) {
    const int pid = event.at("pid");
    if (event.at("name") == "process_name") processes[pid] = event.at("args").at("name");
    if (event.at("name") == "process_sort_index") places[pid] = event.at("args").at("sort_index");
    if (event.at("name") == "thread_name") {
      threads[processes.at(pid)][event.at("tid")] = event.at("args").at("name");
    }
  }
  CHECK(processes == std::map<int, std::string>{{0, "rank 0 · stage 0 (x128)"},
                                                {512, "rank 512 · stage 1"},
                                                {513, "steps"}});
  CHECK(places == std::map<int, int>{{0, 0}, {512, 512}, {513, -1}});
  CHECK(threads.at("rank 0 · stage 0 (x128)") ==
        std::map<int, std::string>{{1, "host"}, {2, "compute"}, {3, "pipeline"}});
  CHECK(threads.at("rank 512 · stage 1") ==
        std::map<int, std::string>{{1, "compute"}, {2, "pipeline"}, {3, "loader 0"}});
}

TEST_CASE("a slice says what it is, step, micro-batch, bytes, wait and parts") {
  const auto slices = of_phase(events_of(two_stages()), "X");
  const auto named = [&](const std::string& name) {
    for (const json& slice : slices) {
      if (slice.at("name") == name) return slice;
    }
    return json();
  };
  const json forward = named("forward");
  CHECK(forward.at("cat") == "forward");
  CHECK(forward.at("args") == json{{"step", 0},
                                   {"micro_batch", 3},
                                   {"wait_us", 0.333},
                                   {"waited_for", "launch"},
                                   {"blocker", -1},
                                   {"forward_us", 8.0},
                                   {"launch_gap_us", 2.0}});
  CHECK(named("receive").at("args") == json{{"step", 0},
                                            {"exposed_us", 2.0},
                                            {"wait_us", 10.0},
                                            {"bytes", 4096},
                                            {"message", 1},
                                            {"operation", 0}});
  CHECK(named("receive").at("cat") == "communication");
  CHECK(named("step 0 (warm-up)").at("dur") == 30.0);
  CHECK(named("step 1").at("ts") == 30.0);
  CHECK(named("say \"hi\"\n").at("args") == json{{"step", 0}, {"blocker", 0}});
}

TEST_CASE("a flow leads from inside the send to inside the receive, after both slices were named") {
  const json events = events_of(two_stages());
  // Per thread, the slice written last: the one that a flow event after it must lie in.
  std::map<std::pair<int, int>, json> open;
  std::map<int, std::vector<json>> flows;
  for (const json& event : events) {
    const std::string phase = event.at("ph");
    if (phase == "X") open[{event.at("pid"), event.at("tid")}] = event;
    if (phase != "s" && phase != "f") continue;
    const json& slice = open.at({event.at("pid"), event.at("tid")});
    CHECK(ns(event.at("ts")) > ns(slice.at("ts")));
    CHECK(ns(event.at("ts")) < ns(slice.at("ts")) + ns(slice.at("dur")));
    CHECK(event.at("id").is_number_integer());
    flows[event.at("id")].push_back(event);
  }
  // Message 2 has no receiving end here and message 3 takes no time: neither has an arrow.
  REQUIRE(flows.size() == 1);
  for (auto& [id, legs] : flows) {
    REQUIRE(legs.size() == 2);
    if (legs[0].at("ph") == "f") std::swap(legs[0], legs[1]);
    CHECK(legs[0].at("ph") == "s");
    CHECK(legs[1].at("ph") == "f");
    CHECK(legs[1].at("bp") == "e");
    CHECK(legs[0].at("cat") == legs[1].at("cat"));
    CHECK(legs[0].at("name") == legs[1].at("name"));
    CHECK(legs[0].at("ts") < legs[1].at("ts"));
  }
}

TEST_CASE("the same message number in another step is another flow") {
  Timeline timeline = two_stages();
  for (RankTimeline& rank : timeline.ranks) {
    for (Span span : std::vector<Span>(rank.spans)) {
      if (span.message != 1) continue;
      span.step = 1;
      span.start += 3e-5;
      span.end += 3e-5;
      rank.spans.push_back(span);
    }
  }
  const json events = events_of(timeline);
  std::set<int> ids;
  for (const json& leg : of_phase(events, "s")) ids.insert(leg.at("id").get<int>());
  CHECK(ids.size() == 2);
  CHECK(of_phase(events, "f").size() == 2);
}

TEST_CASE("only the chosen ranks are written, and no flow that has lost an end") {
  const json events = events_of(two_stages(), {.choice = {.ranks = {512}}});
  CHECK(of_phase(events, "X").size() == 3 + 2);
  CHECK(of_phase(events, "s").empty());
  CHECK(of_phase(events, "f").empty());
}

TEST_CASE("memory is a counter in GiB") {
  const auto counters = of_phase(events_of(two_stages()), "C");
  REQUIRE(counters.size() == 2);
  CHECK(counters[0].at("name") == "memory");
  CHECK(counters[1].at("args") == json{{"GiB", 1.5}});
  CHECK(counters[1].at("ts") == 10.0);
}

TEST_CASE("an empty timeline is a trace too") { CHECK(of_phase(events_of({}), "X").empty()); }

TEST_CASE("a saved trace is the written one, compressed when its name says so, and nothing else") {
  const TemporaryFolder folder;
  save_trace({"--trace", folder.file("a.json")}, two_stages());
  save_trace({"--trace", folder.file("a.json.gz")}, two_stages());
  save_trace({"--trace", folder.file("b.json.gz")}, two_stages());
  CHECK(file_text(folder.file("a.json")) == trace_of(two_stages()));
  CHECK(inflated(folder.file("a.json.gz")) == trace_of(two_stages()));
  CHECK(file_text(folder.file("a.json.gz")) == file_text(folder.file("b.json.gz")));
  CHECK(folder.files() == 3);
}

TEST_CASE("a file that cannot be saved is an error that names it, and leaves nothing behind") {
  const TemporaryFolder folder;
  const std::string missing = folder.file("no/such/folder/a.json");
  CHECK_THROWS_WITH_AS(save_trace({"--trace", missing}, two_stages()),
                       ("cannot write '" + missing + "': No such file or directory").c_str(),
                       IoError);
  CHECK_THROWS_AS(save_trace({"--trace", missing + ".gz"}, two_stages()), IoError);

  std::filesystem::create_directories(folder.path() / "taken" / "inside");
  CHECK_THROWS_AS(save_file({"-o", folder.file("taken")}, "text"), IoError);
  CHECK(folder.files() == 1);
}

TEST_CASE("what stood at a path stays when the writer fails") {
  const TemporaryFolder folder;
  const Output output{.role = "-o", .path = folder.file("result.json"), .force = true};
  save_file(output, "old");
  CHECK_THROWS_AS(save_file(output,
                            [](std::ostream& out) {
                              out << "half of";
                              throw SimulationError("stopped");
                            }),
                  SimulationError);
  CHECK(file_text(output.path) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a full disk is an error") {
  REQUIRE(std::filesystem::exists("/dev/full"));  // Linux has it
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/full", folder.path() / "a.json");
  std::filesystem::create_symlink("/dev/full", folder.path() / "a.gz");
  CHECK_THROWS_AS(save_file({"-o", folder.file("a.json")}, std::string(1 << 20, 'x')), IoError);
  CHECK_THROWS_AS(save_file({"-o", folder.file("a.gz")}, "text"), IoError);
}
