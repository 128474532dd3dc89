// Campaigns: time, interruption, resumption, the command line and the progress line.
#include <cstdio>
#include <sstream>

#include <doctest/doctest.h>

#include "calib/harness/campaign.hpp"
#include "calib/harness/options.hpp"
#include "calib/harness/points.hpp"
#include "calib/harness/repetition.hpp"
#include "calib/harness/store.hpp"
#include "sim/core/duration.hpp"
#include "sim/core/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;
using namespace stepsim::calib;

namespace {

Point copy_of(std::int64_t bytes) { return CopyPoint{Direction::h2d, HostMemory::pinned, bytes}; }

DeviceFacts device() {
  DeviceFacts facts;
  facts.name = "a GPU";
  facts.sms = 10;
  facts.memory_bytes = std::int64_t{1} << 34;
  facts.gpus = 1;
  return facts;
}

/// A GPU that takes a second for everything, in a time that only it moves on.
struct Bench {
  double now = 100;
  std::sig_atomic_t interrupted = 0;
  int interrupt_after = 1000;
  std::vector<std::string> measured, said;
  std::vector<std::size_t> saved;  ///< records in the file, each time it was written
  std::function<Measured(const Point&)> result = [](const Point&) {
    Measured one;
    one.timing = {1, 1, 1, 5};
    return one;
  };
  Measurements all;
  std::ostringstream screen;

  Ending run(const std::vector<Point>& points, std::optional<double> limit = {}) {
    all.device = device();
    Surroundings here;
    here.measure = [this](const Point& point) {
      now += 1;
      measured.push_back(identity(point));
      if (static_cast<int>(measured.size()) == interrupt_after) interrupted = 1;
      return result(point);
    };
    here.save = [this](const Measurements& file) { saved.push_back(file.records.size()); };
    here.say = [this](const std::string& line) { said.push_back(line); };
    here.interrupted = &interrupted;
    Progress progress(screen, false, 80);
    return run_campaign(points, all, here, Budget(limit, [this] { return now; }), progress);
  }
};

const std::vector<Point> kFive = {copy_of(1), copy_of(2), copy_of(3), copy_of(4), copy_of(5)};

std::optional<HarnessOptions> parse(const std::vector<std::string>& words) {
  std::ostringstream out;
  return parse_options(words, out);
}

std::string refusal(const std::vector<std::string>& words) {
  try {
    (void)parse(words);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every point is measured, and the file written every two seconds") {
  Bench bench;
  CHECK(bench.run(kFive) == Ending::complete);
  CHECK(bench.measured.size() == 5);
  CHECK(bench.saved == std::vector<std::size_t>{2, 4, 5});
}

TEST_CASE("no point begins after the budget's end") {
  Bench bench;
  CHECK(bench.run(kFive, 2.5) == Ending::out_of_time);
  CHECK(bench.measured.size() == 3);  // at 0, 1 and 2 s
  CHECK(bench.saved.back() == 3);
}

TEST_CASE("an interruption finishes the point and the file") {
  Bench bench;
  bench.interrupt_after = 2;
  CHECK(bench.run(kFive) == Ending::interrupted);
  CHECK(bench.saved.back() == 2);
}

TEST_CASE("a failure of the GPU leaves a file with what was measured before") {
  Bench bench;
  bench.result = [&](const Point&) -> Measured {
    if (bench.measured.size() == 3) throw std::runtime_error("an illegal memory access");
    Measured one;
    one.timing = {1, 1, 1, 5};
    return one;
  };
  CHECK_THROWS_AS(bench.run(kFive), std::runtime_error);
  CHECK(bench.saved.back() == 2);
}

TEST_CASE("what cannot be had is recorded with its reason, and said") {
  Bench bench;
  bench.result = [](const Point&) -> Measured { throw NotOffered("no algorithm for it"); };
  CHECK(bench.run({copy_of(8)}) == Ending::complete);
  REQUIRE(bench.all.records.size() == 1);
  CHECK(bench.all.records[0].skipped == "no algorithm for it");
  CHECK(bench.said.at(0) == "skipped copy direction=h2d host=pinned bytes=8: no algorithm for it");
}

TEST_CASE("what cannot be true is recorded without a time") {
  Bench bench;
  bench.result = [](const Point&) { return Measured{}; };
  bench.run({copy_of(8)});
  CHECK(bench.all.records.at(0).skipped.find("implausible: ") == 0);
}

TEST_CASE("the points of an earlier call are not repeated") {
  Bench bench;
  bench.run({copy_of(1), copy_of(2)});
  bench.all.records[1].skipped = "no memory";
  const Selection rest = select(kFive, bench.all, device(), {}, false);
  CHECK(rest.already == 2);
  CHECK(rest.to_measure.size() == 3);
  const Selection retry = select(kFive, bench.all, device(), {}, true);
  CHECK(retry.already == 1);
  CHECK(retry.to_measure.size() == 4);
  // The new measurement takes the place of the skipped one.
  bench.run(retry.to_measure);
  CHECK(bench.all.records.size() == 5);
  CHECK(bench.all.records[1].skipped.empty());
}

TEST_CASE("points are left out by reason") {
  const Selection selection =
      select(collective_points(), {}, device(), {.collectives = true}, false);
  CHECK(selection.to_measure.empty());
  CHECK(selection.left_out.count("they need 8 GPUs, here 1") == 1);
}

TEST_CASE("durations have a unit") {
  CHECK(parse_duration("90s") == 90);
  CHECK(parse_duration("10 min") == 600);
  CHECK(parse_duration("1.5h") == 5400);
  CHECK(parse_duration("500 ms") == 0.5);
  CHECK(parse_duration("2us") == 2e-6);
  CHECK(parse_duration("30d") == parse_duration("30 days"));
  CHECK_THROWS_WITH_AS((void)parse_duration("0 s"), "'0 s' is not above 0", UserError);
  for (const char* wrong :
       {"10", "min", "", "-1 s", "0 s", "nan s", "10 parsecs", "10 min s", "1e300d"})
    CHECK_THROWS_AS((void)parse_duration(wrong), UserError);
  CHECK(clock_text(161.9) == "2:41");
  CHECK(clock_text(3723) == "1:02:03");
}

TEST_CASE("the progress line fits its width and says where it is") {
  const Position position{5, 10, 161, 600.0, "copy direction=h2d"};
  CHECK(progress_text(position, 100) ==
        "[##########..........] 5/10  2:41 of 10:00  copy direction=h2d");
  CHECK(progress_text(position, 30).size() == 30);
  CHECK(progress_text({0, 0, 0, {}, ""}, 100) == "[....................] 0/0  0:00  ");
}

TEST_CASE("without a terminal a line comes every tenth") {
  std::ostringstream out;
  Progress progress(out, false, 80);
  for (std::size_t done = 0; done < 100; ++done) progress.show({done, 100, 0, {}, "x"});
  progress.clear();
  const std::string text = out.str();
  CHECK(std::count(text.begin(), text.end(), '\n') == 9);
  CHECK(text.find('\r') == std::string::npos);
}

TEST_CASE("the command line") {
  CHECK(parse({})->output == "measurements.json");
  const auto options = parse({"--only", "gemm,copy", "--budget", "10", "min", "--device", "1", "-o",
                              "my.json", "--retry"});
  REQUIRE(options);
  CHECK(options->only == std::vector<PointKind>{PointKind::gemm, PointKind::copy});
  CHECK(*options->budget_s == 600);
  CHECK(options->device == 1);
  CHECK(options->output == "my.json");
  CHECK(options->again);
  CHECK(options->wants(copy_of(1)));
  CHECK(!options->wants(QueuePoint{}));
  CHECK(*parse({"--budget", "90s"})->budget_s == 90);
  CHECK(!parse({"--help"}));
}

TEST_CASE("a wrong command line is refused with a proposal") {
  CHECK(refusal({"--only", "gem"}) == "--only: unknown kind 'gem', did you mean 'gemm'?");
  CHECK(refusal({"--budget", "10"}).find("'10' has no unit of time, write \"10 s\"") == 0);
  CHECK(!refusal({"--device", "-1"}).empty());
  CHECK(!refusal({"--devise", "1"}).empty());
  CHECK(!refusal({"gemm"}).empty());
}

TEST_CASE("the file on disk is replaced as a whole, and belongs to one GPU") {
  const TemporaryFolder folder;
  const std::string path = folder.file("my.json");
  CHECK(!load_measurements(path));
  Bench bench;
  bench.run(kFive);
  replace_file(path, to_json(bench.all));
  replace_file(path, to_json(bench.all));
  CHECK(load_measurements(path)->records.size() == 5);
  CHECK(folder.files() == 1);
  CHECK_NOTHROW(check_same_device(bench.all, device(), path));
  DeviceFacts other = device();
  other.name = "another GPU";
  CHECK_THROWS_AS(check_same_device(bench.all, other, path), UserError);
  CHECK_THROWS_AS(replace_file(folder.file("missing/my.json"), ""), IoError);
}

TEST_CASE("a sample lasts a millisecond and uses every buffer") {
  CHECK(repetition_for(10e-6, 1).inner == 100);
  CHECK(repetition_for(10e-6, 256).inner == 256);
  CHECK(repetition_for(1e-9, 1).inner == 1000);
  CHECK(repetition_for(1, 1).inner == 1);
  CHECK(repetition_for(1, 1).repeats == 5);
  CHECK(repetition_for(10e-6, 1).repeats == 50);
  CHECK(repetition_for(10e-3, 1).repeats == 15);
}

TEST_CASE("buffers take turns until the cache is eight times full") {
  const std::int64_t mib = std::int64_t{1} << 20;
  CHECK(turns_for(10 * mib, 50 * mib, 80'000 * mib) == 40);
  CHECK(turns_for(500 * mib, 50 * mib, 80'000 * mib) == 1);
  CHECK(turns_for(1, 50 * mib, 80'000 * mib) == 256);
  CHECK(turns_for(100 * mib, 50 * mib, 250 * mib) == 2);  // 80 % of what is free
  CHECK(turns_for(1000 * mib, 50 * mib, 100 * mib) == 1);
}
