// A file of sweeps: what is kept is found again, by another opener too.
#include "sim/store/sweep_store.hpp"

#include <filesystem>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

namespace fs = std::filesystem;

struct TemporaryFile {
  TemporaryFolder folder;
  std::string path() const { return folder.file("a.sweep.db"); }
};

SweepRecord record(const std::string& identity) {
  SweepAxis axis{.paths = {"training.micro_batch"}, .values = {}, .place = {}};
  for (const char* text : {"1", "2", "it's \"4\""}) axis.values.push_back({{text}, {}, {}});
  return {.identity = identity,
          .inputs = "profiles",
          .name = "mine",
          .file = "mine.yaml",
          .axes = {axis},
          .points = 3,
          .objective = "step_time"};
}

SweepPoint ok_point(std::int64_t point, double step_s) {
  PointNumbers numbers{.step = Seconds{step_s},
                       .mfu = 0.4,
                       .tokens_per_s = 1e6,
                       .samples_per_s = 10,
                       .peak = Bytes{1e9},
                       .capacity = Bytes{2e9},
                       .gpus = 8,
                       .dollars = 0.25};
  numbers.breakdown[1] = step_s;
  return {point, {PointState::ok, "", numbers}};
}

}  // namespace

TEST_CASE("points are found again, with all their numbers, when the file is opened again") {
  const TemporaryFile file;
  {
    SweepStore store(file.path());
    store.choose(record("a"), true);
    store.add(ok_point(1, 0.1 + 0.2));
    store.add({2, {PointState::refused, "does not 'divide'", {}}});
  }
  SweepStore store(file.path());
  store.choose(record("a"), false);
  CHECK(store.count() == 2);
  CHECK(store.has(1));
  CHECK_FALSE(store.has(0));
  std::vector<SweepPoint> points;
  store.each([&](const SweepPoint& point) { points.push_back(point); });
  REQUIRE(points.size() == 2);
  REQUIRE(points[0].outcome.numbers.has_value());
  CHECK(points[0].outcome.numbers->step.seconds() == 0.1 + 0.2);
  CHECK(points[0].outcome.numbers->breakdown[1] == 0.1 + 0.2);
  CHECK(points[0].outcome.numbers->gpus == 8);
  CHECK(points[1].outcome.state == PointState::refused);
  CHECK(points[1].outcome.reason == "does not 'divide'");
  CHECK_FALSE(points[1].outcome.numbers.has_value());
  REQUIRE(store.examples().size() == 1);
  CHECK(store.examples()[0].first.point == 2);
}

TEST_CASE("points of one scenario are counted, refused ones have none") {
  const TemporaryFile file;
  SweepStore store(file.path());
  store.choose(record("a"), true);
  for (const int point : {0, 1}) {
    SweepPoint done = ok_point(point, 2);
    done.scenario = "first";
    store.add(done);
  }
  store.add({2, {PointState::refused, "does not divide", {}}});
  CHECK(store.count_alike() == 1);
}

TEST_CASE("the best come first, those that do not fit do not count, equal ones in grid order") {
  const TemporaryFile file;
  SweepStore store(file.path());
  store.choose(record("a"), true);
  store.add(ok_point(2, 3));
  store.add(ok_point(0, 3));
  SweepPoint large = ok_point(1, 1);
  large.outcome.state = PointState::too_large;
  store.add(large);
  const auto best = store.best(objective_of("step_time"), 10);
  REQUIRE(best.size() == 2);
  CHECK(best[0].point == 0);
  CHECK(best[1].point == 2);
  CHECK(store.best(objective_of("step_time"), 1).size() == 1);
}

TEST_CASE("one file holds several sweeps, and beginning anew forgets one alone") {
  const TemporaryFile file;
  SweepStore store(file.path());
  store.choose(record("a"), true);
  store.add(ok_point(0, 1));
  store.choose(record("b"), true);
  CHECK(store.count() == 0);
  store.add(ok_point(0, 2));
  store.choose(record("a"), true);
  CHECK(store.count() == 0);
  store.choose(record("b"), false);
  CHECK(store.count() == 1);
  REQUIRE(store.sweeps().size() == 2);
  CHECK(store.sweeps()[1].identity == "b");
  CHECK(store.sweeps()[1].axes[0].values[2].texts[0] == "it's \"4\"");
}

TEST_CASE("a point that is done again is there once") {
  const TemporaryFile file;
  SweepStore store(file.path());
  store.choose(record("a"), true);
  store.add(ok_point(0, 1));
  store.add(ok_point(0, 1));
  CHECK(store.count() == 1);
}

TEST_CASE("each point says which build simulated it") {
  const TemporaryFile file;
  SweepStore store(file.path());
  store.choose(record("a"), true);
  CHECK(store.builds().empty());
  SweepPoint older = ok_point(0, 1);
  older.build = "1 b";
  store.add(older);
  SweepPoint newer = ok_point(1, 1);
  newer.build = "2 a";
  store.add(newer);
  CHECK(store.builds() == std::vector<std::string>{"1 b", "2 a"});
  store.choose(record("b"), true);
  CHECK(store.builds().empty());
}

TEST_CASE("a file with a point that cannot be is broken, and beginning anew mends it") {
  struct Case {
    const char* change;
    const char* sentence;
  };
  constexpr Case kCases[] = {
      {"INSERT INTO points (sweep, point, state, step_time_s) VALUES (1, 77, 'ok', 1)",
       "point 77 of sweep_1 is beyond its grid of 3 points"},
      {"UPDATE points SET point = -1", "point -1 of sweep_1 is beyond its grid of 3 points"},
      {"UPDATE points SET step_time_s = NULL",
       "point 1 of sweep_1 is simulated, but has no numbers"},
      {"UPDATE points SET mfu = 'none'", "point 1 of sweep_1 is simulated, but has no numbers"},
      {"UPDATE points SET step_time_s = -1", "point 1 of sweep_1 is simulated, but has no numbers"},
      {"UPDATE points SET state = 'fine'", "point 1 of sweep_1 is neither ok nor anything else"},
      {"UPDATE points SET state = NULL", "point 1 of sweep_1 is neither ok nor anything else"},
  };
  for (const Case& one : kCases) {
    CAPTURE(one.change);
    const TemporaryFile file;
    {
      SweepStore store(file.path());
      store.choose(record("a"), true);
      store.add(ok_point(1, 1));
    }
    SQLite::Database(file.path(), SQLite::OPEN_READWRITE).exec(one.change);
    const auto complaint = [&](auto&& look) -> std::string {
      try {
        look();
      } catch (const UserError& error) {
        return error.what();
      }
      return "";
    };
    const std::string read =
        complaint([&] { SweepStore::reader(file.path()).look_at(record("a")); });
    CHECK(read.find(one.sentence) != std::string::npos);
    CHECK(read.find("--restart") != std::string::npos);
    SweepStore store(file.path());
    CHECK(complaint([&] { store.choose(record("a"), false); }) == read);
    store.choose(record("a"), true);
    CHECK(store.count() == 0);
  }
}

TEST_CASE("another file is left alone") {
  const TemporaryFile file;
  std::ofstream(file.path()) << "a letter that is no database, and longer than its head of bytes\n"
                                "a letter that is no database, and longer than its head of bytes\n";
  CHECK_THROWS_AS(SweepStore store(file.path()), UserError);
  CHECK(fs::file_size(file.path()) == 128);
}
