// Traces of stepsim: what is written is read back, and what cannot be read back is refused.
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/command/explain.hpp"
#include "sim/command/run.hpp"
#include "sim/core/error.hpp"
#include "sim/core/system/files_read.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/load.hpp"
#include "sim/recording/simulated/read_simulated.hpp"
#include "sim/report/run/trace.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;
using nlohmann::json;

namespace {

/// A pipeline with a loader, whose ranks all have something to send, to copy and to wait for.
std::string tiny() { return std::string(source_folder()) + "/tests/golden/tiny.yaml"; }

struct Ran {
  json result;
  std::string trace;
};

Ran ran(const TemporaryFolder& folder, const std::string& scenario, TraceWords words = {},
        std::vector<std::string> settings = {}) {
  const std::string path = folder.file("trace.json");
  std::ostringstream out, notes;
  forget_reads();  // each run is a program of its own
  run({.scenario = {scenario, std::move(settings)},
       .format = "json",
       .trace = path,
       .trace_words = std::move(words)},
      out, notes);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return {json::parse(out.str()), text.str()};
}

std::string explained(const std::string& path, const std::string& format = "json") {
  std::ostringstream out;
  const ExitCode code = explain({.scenario = {path, {}}, .format = format}, out, out);
  CHECK(code == ExitCode::ok);
  return out.str();
}

/// What is said of a file with that text.
std::string refusal(const std::string& text) {
  const TemporaryFolder folder;
  try {
    explained(folder.file("t.json", text));
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

/// Whether both are the same moment in whole nanoseconds.
bool is_near(double a, double b) { return std::abs(a - b) < 1.01e-9; }

void check_alike(const Timeline& a, const Span& one, const Timeline& b, const Span& other) {
  CHECK(a.names[one.name] == b.names[other.name]);
  CHECK(is_near(one.arrival, other.arrival));
  CHECK(is_near(one.start, other.start));
  CHECK(is_near(one.end, other.end));
  CHECK(one.blocker == other.blocker);
  CHECK(one.micro_batch == other.micro_batch);
  CHECK(one.message == other.message);
  CHECK((one.operation == 0) == (other.operation == 0));
  CHECK((one.outside == kInRange) == (other.outside == kInRange));
  CHECK(one.contention == doctest::Approx(other.contention));
  CHECK(one.bytes == doctest::Approx(other.bytes));
  CHECK(one.row == other.row);
  CHECK(one.step == other.step);
  CHECK(one.cause == other.cause);
  CHECK(one.wait_cause == other.wait_cause);
  CHECK(one.sends == other.sends);
}

void check_alike(const Timeline& a, const RankTimeline& one, const Timeline& b,
                 const RankTimeline& other) {
  CHECK(one.rank == other.rank);
  CHECK(one.stage == other.stage);
  CHECK(one.multiplicity == other.multiplicity);
  CHECK(one.members == other.members);
  REQUIRE(one.rows.size() == other.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    CHECK(one.rows[i].name == other.rows[i].name);
    CHECK(one.rows[i].kind == other.rows[i].kind);
    CHECK(one.rows[i].axis == other.rows[i].axis);
  }
  REQUIRE(one.spans.size() == other.spans.size());
  for (std::size_t i = 0; i < one.spans.size(); ++i)
    check_alike(a, one.spans[i], b, other.spans[i]);
  REQUIRE(one.memory.size() == other.memory.size());
  for (std::size_t i = 0; i < one.memory.size(); ++i)
    CHECK(one.memory[i].bytes == doctest::Approx(other.memory[i].bytes).epsilon(1e-9));
}

/// Writes a timeline with a head that can be read.
std::string written(const TemporaryFolder& folder, const Timeline& timeline,
                    const TimelineChoice& choice = {}) {
  const TraceHead head{.scenario = "made up", .yaml = "yaml", .next = "", .level = "kernel"};
  save_trace({.role = "--trace", .path = folder.file("w.json"), .is_update = true}, timeline,
             {.choice = choice, .head = &head});
  return folder.file("w.json");
}

Timeline simulated(bool kernels) {
  const Scenario scenario = load(ScenarioArgument{tiny(), {}});
  return simulate(make_plan(scenario, build(scenario)), {.kernels = kernels}).timeline;
}

}  // namespace

TEST_CASE("a timeline is read back as it was written, to the nanosecond") {
  const TemporaryFolder folder;
  for (const bool kernels : {true, false}) {
    const Timeline timeline = simulated(kernels);
    const Timeline read = read_simulated(written(folder, timeline)).timeline;
    CHECK(read.warmup == timeline.warmup);
    REQUIRE(read.step_ends.size() == timeline.step_ends.size());
    for (std::size_t i = 0; i < read.step_ends.size(); ++i)
      CHECK(is_near(read.step_ends[i], timeline.step_ends[i]));
    REQUIRE(read.ranks.size() == timeline.ranks.size());
    for (std::size_t i = 0; i < read.ranks.size(); ++i)
      check_alike(timeline, timeline.ranks[i], read, read.ranks[i]);
  }
}

TEST_CASE("operations of several ranks stay theirs") {
  const TemporaryFolder folder;
  const Timeline timeline = simulated(true);
  const Timeline read = read_simulated(written(folder, timeline)).timeline;
  std::map<std::uint32_t, std::uint32_t> other;
  for (std::size_t rank = 0; rank < read.ranks.size(); ++rank) {
    for (std::size_t i = 0; i < read.ranks[rank].spans.size(); ++i) {
      const std::uint32_t number = timeline.ranks[rank].spans[i].operation;
      const std::uint32_t here = read.ranks[rank].spans[i].operation;
      CHECK(other.emplace(number, here).first->second == here);
    }
  }
  CHECK(other.size() > 10);
}

TEST_CASE("explain says of a trace what run said of the scenario") {
  const TemporaryFolder folder;
  for (const char* level : {"kernel", "task"}) {
    const Ran run = ran(folder, tiny(), {.level = level});
    const json answer = json::parse(explained(folder.file("trace.json")));
    CHECK(answer["schema"] == "stepsim.recording/1");
    CHECK(answer["scenario"] == "tiny");
    CHECK(answer["level"] == level);
    CHECK(answer["verdict"] == run.result["verdict"]);
    CHECK(answer["stragglers"] == run.result["faults"]["stragglers"]);
    CHECK(answer["not_known"].empty());
    const double step = run.result["step_time_s"];
    for (const auto& [cause, seconds] : run.result["breakdown_s"].items())
      CHECK(std::abs(answer["breakdown_s"][cause].get<double>() - seconds.get<double>()) <
            1e-5 * step);
    REQUIRE(answer["ranks"].size() == 4);
    for (const json& rank : answer["ranks"]) {
      double sum = 0;
      for (const auto& [cause, seconds] : rank["breakdown_s"].items()) sum += seconds.get<double>();
      CHECK(sum == doctest::Approx(step).epsilon(1e-6));
      CHECK(rank["communication_and_compute_s"].get<double>() +
                rank["exposed_communication_s"].get<double>() ==
            doctest::Approx(rank["communication_s"].get<double>()));
      CHECK(rank["busy_s"] < rank["window_s"]);
      CHECK(rank["steps"][0]["name"] == "step 1");
    }
  }
}

TEST_CASE("the page says what it is of") {
  const TemporaryFolder folder;
  ran(folder, tiny());
  const std::string page = explained(folder.file("trace.json"), "table");
  CHECK(page.find("a simulation of tiny by stepsim ") != std::string::npos);
  CHECK(page.find("Where the step goes") != std::string::npos);
  CHECK(page.find("Verdict") != std::string::npos);
}

TEST_CASE("some steps and ranks are a smaller file, which says what it lacks") {
  const TemporaryFolder folder;
  const std::vector<std::string> longer{"run.steps=4"};
  const Ran all = ran(folder, tiny(), {}, longer);
  const Ran two = ran(folder, tiny(), {.steps = "2-3"}, longer);
  CHECK(two.trace.size() < 0.6 * static_cast<double>(all.trace.size()));
  json answer = json::parse(explained(folder.file("trace.json")));
  CHECK(answer["not_known"].size() == 1);
  CHECK(answer["not_known"][0].get<std::string>().find("steps 2 to 3") != std::string::npos);
  CHECK(answer["steps_s"].size() == 2);
  for (const auto& [cause, seconds] : all.result["breakdown_s"].items())
    CHECK(answer["breakdown_s"][cause].get<double>() ==
          doctest::Approx(seconds.get<double>()).epsilon(0.01));

  const Ran one = ran(folder, tiny(), {.ranks = "3"}, longer);
  CHECK(one.trace.size() < 0.7 * static_cast<double>(all.trace.size()));
  answer = json::parse(explained(folder.file("trace.json")));
  REQUIRE(answer["ranks"].size() == 1);
  CHECK(answer["ranks"][0]["stage"] == 1);
  CHECK(answer["not_known"][0].get<std::string>().find("1 of 4") != std::string::npos);
}

TEST_CASE("steps of the warm-up alone can be looked at") {
  const TemporaryFolder folder;
  ran(folder, tiny(), {.steps = "0"});
  const json answer = json::parse(explained(folder.file("trace.json")));
  CHECK(answer["steps_s"].size() == 1);
  CHECK(answer["not_known"][0].get<std::string>().find("warm up") != std::string::npos);
}

TEST_CASE("what is no part of a run is refused, with what there is") {
  const TemporaryFolder folder;
  const auto refused = [&](TraceWords words, const char* what) {
    CHECK_THROWS_WITH_AS(ran(folder, tiny(), std::move(words)), doctest::Contains(what), UserError);
  };
  refused({.steps = "1-9"},
          "there is no step 9: the run has steps 0 to 1 and measures them from 1 on");
  refused({.steps = "2-1"},
          "--trace-steps: '2-1' is no range of whole numbers, write it as 3 or 3-5");
  refused({.steps = "0,2"}, "there is no step 2");
  refused({.ranks = "0;1"},
          "--trace-ranks: '0;1' is no range of whole numbers, write it as 0,8-15");
  refused({.ranks = "4"}, "there is no rank 4: the scenario has ranks 0 to 3");
}

TEST_CASE("a trace without its scenario is refused") {
  const TemporaryFolder folder;
  save_trace({"--trace", folder.file("old.json")}, simulated(true));
  CHECK(is_simulated(folder.file("old.json")));
  CHECK_THROWS_WITH_AS(explained(folder.file("old.json")),
                       doctest::Contains("an older stepsim wrote this trace"), UserError);
}

TEST_CASE("a trace of another format, or one that was cut or changed, is refused in a sentence") {
  const TemporaryFolder folder;
  const std::string whole = ran(folder, tiny()).trace;
  const auto refused = [&](const std::string& text, const std::string& what) {
    const std::string message = refusal(text);
    CAPTURE(message);
    CHECK(message.find(what) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  };
  refused(with(whole, R"("format":1)", R"("format":7)"),
          "this is a trace of format 7, which stepsim ");
  refused(whole.substr(0, whole.size() / 2), "its text ends before it should");
  refused(with(whole, "layers: 2", "layers: 3"), "its scenario is not the one");
  refused(with(whole, R"("cat":"forward")", R"("cat":"sideways")"), "'sideways' is no cause");
  refused(with(whole, R"("blocker":-1)", R"("blocker":900000)"), "waits for one that there is not");
  refused(with(whole, R"("slices":)", R"("slices":9)"), "slices");
  refused(with(whole, R"("here":4)", R"("here":3)"), "it has 4 of its 3 ranks");
  const std::size_t slice = whole.find(R"({"ph":"X","pid":0)");
  const std::string without = whole.substr(0, slice) + whole.substr(whole.find('\n', slice) + 1);
  refused(without, "damaged");
}

TEST_CASE("a trace is as it was: settings do not change it") {
  const TemporaryFolder folder;
  ran(folder, tiny());
  std::ostringstream out;
  CHECK_THROWS_WITH_AS(
      explain({.scenario = {folder.file("trace.json"), {"run.steps=2"}}}, out, out),
      doctest::Contains("--set changes a scenario; a trace is as it was"), UserError);
}

TEST_CASE("slices say layer, shape and FLOPs of kernels, algorithm and group of collectives") {
  const TemporaryFolder folder;
  const json events = json::parse(ran(folder, tiny()).trace)["traceEvents"];
  const auto first = [&](const char* name) {
    for (const json& event : events) {
      if (event["name"] == name) return event["args"];
    }
    return json();
  };
  CHECK(first("qkv")["layer"] == 0);
  CHECK(first("qkv")["shape"] == "1024x768x512");
  CHECK(first("qkv")["flops"] == 2.0 * 1024 * 768 * 512);
  CHECK(first("all_gather")["algorithm"] == "ring");
  int layers = 0, groups = 0;
  for (const json& event : events) {
    const json& of = event["args"];
    if (event["name"] == "qkv wgrad") layers |= 1 << of["layer"].get<int>();
    if (event["name"] == "thread_name" && of.contains("group"))
      groups += of["name"] == "tensor" && of["group"] == (event["pid"] < 2 ? "0-1" : "2-3") ? 1 : 0;
  }
  CHECK(layers == 3);  // one on each stage
  CHECK(groups == 4);
}

namespace {

std::string damaged(std::string text, std::mt19937& random) {
  constexpr const char* kPieces[] = {"\"",
                                     "{",
                                     "}",
                                     "[",
                                     ",",
                                     "-",
                                     "1e99",
                                     "null",
                                     "9",
                                     "0",
                                     "\"blocker\":-3,",
                                     "\"operation\":4000000000,"};
  for (auto times = 1 + random() % 3; times > 0 && !text.empty(); --times) {
    const std::size_t at = random() % text.size();
    switch (random() % 6) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text[at] = static_cast<char>('0' + random() % 10);
        break;
      case 2:
        text.insert(at, kPieces[random() % std::size(kPieces)]);
        break;
      case 3:
        text.erase(at, 1 + random() % 40);
        break;
      case 4:  // a value of an argument becomes another number
        if (const std::size_t colon = text.find("\":", at); colon != std::string::npos)
          text.insert(colon + 2, std::to_string(random() % 3));
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 200));
    }
  }
  return text;
}

}  // namespace

TEST_CASE("damaged traces are answered or refused") {
  constexpr int kFiles = 1000;
  const TemporaryFolder folder;
  const std::string whole = ran(folder, tiny(), {.level = "task"}).trace;
  std::mt19937 random(2026);
  int answered = 0;
  for (int i = 0; i < kFiles; ++i) {
    const std::string text = damaged(whole, random);
    const std::string path = folder.file("damaged.json", text);
    CAPTURE(i);
    try {
      if (!is_simulated(path)) continue;
      const std::string answer = explained(path, i % 2 == 0 ? "json" : "table");
      CHECK(answer.size() > 100);
      ++answered;
    } catch (const UserError& error) {
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
  CHECK(answered > kFiles / 50);
  CHECK(answered < kFiles);
}
