// Files of sweeps united: nothing lost, nothing twice, and nothing changed by what does not fit.
#include "sim/store/merge_sweeps.hpp"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

namespace fs = std::filesystem;

SweepRecord record(const std::string& identity) {
  SweepAxis axis{.paths = {"training.micro_batch"}, .values = {}, .place = {}};
  for (const char* text : {"1", "2", "4", "8"}) axis.values.push_back({{text}, {}, {}});
  return {.identity = identity,
          .inputs = "profiles",
          .name = "mine",
          .file = "mine.yaml",
          .axes = {axis},
          .points = 4,
          .objective = "step_time"};
}

SweepPoint ok_point(std::int64_t point, double step_s) {
  PointNumbers numbers{.step = Seconds{step_s}, .mfu = 0.4, .samples_per_s = 10, .gpus = 8};
  numbers.breakdown[1] = step_s;
  return {point, {PointState::ok, "", numbers}};
}

SweepPoint refused(std::int64_t point) {
  return {point, {PointState::refused, "4 does not divide 6", {}}};
}

std::string made(const std::string& path, const SweepRecord& of,
                 const std::vector<SweepPoint>& points) {
  SweepStore store(path);
  store.choose(of, false);
  for (const SweepPoint& point : points) store.add(point);
  store.flush();
  return path;
}

/// "0:ok 2:refused": what the file has of the sweep.
std::string points_in(const std::string& path, const SweepRecord& of) {
  SweepStore store = SweepStore::reader(path);
  store.look_at(of);
  std::string text;
  store.each([&](const SweepPoint& point) {
    text += (text.empty() ? "" : " ") + std::to_string(point.point) + ":" +
            name_of(point.outcome.state);
  });
  return text;
}

std::string complaint(const std::string& into, const std::vector<std::string>& from) {
  try {
    merge_sweeps(into, from);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("parts of a sweep make the whole, in any order, and a part may come twice") {
  const TemporaryFolder folder;
  const auto a = made(folder.file("a.db"), record("x"), {ok_point(0, 1), refused(2)});
  const auto b = made(folder.file("b.db"), record("x"), {ok_point(1, 2), ok_point(3, 4)});
  const auto all = folder.file("all.db");
  const auto merged = merge_sweeps(all, {b, a, b});
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].done == 4);
  CHECK(merged[0].files == 3);
  CHECK(merged[0].view == 1);
  CHECK(points_in(all, record("x")) == "0:ok 1:ok 2:refused 3:ok");
  SweepStore store = SweepStore::reader(all);
  store.look_at(record("x"));
  CHECK(store.some({3}).front().outcome.numbers->step.seconds() == 4);
  CHECK(store.some({2}).front().outcome.reason == "4 does not divide 6");
}

TEST_CASE("what the file has already stays, and it may be among those that are merged") {
  const TemporaryFolder folder;
  const auto a = made(folder.file("a.db"), record("x"), {ok_point(0, 1)});
  const auto b = made(folder.file("b.db"), record("x"), {ok_point(1, 2)});
  made(b, record("y"), {ok_point(2, 3)});
  const auto merged = merge_sweeps(a, {a, b});
  CHECK(points_in(a, record("x")) == "0:ok 1:ok");
  CHECK(points_in(a, record("y")) == "2:ok");
  CHECK(points_in(b, record("x")) == "1:ok");
  REQUIRE(merged.size() == 2);
  CHECK(merged[0].files == 2);
  CHECK(merged[1].files == 1);
}

TEST_CASE("the last bits of a number may differ, more may not") {
  const TemporaryFolder folder;
  const auto a = made(folder.file("a.db"), record("x"), {ok_point(0, 1)});
  const auto near = made(folder.file("near.db"), record("x"), {ok_point(0, 1 + 1e-15)});
  const auto far = made(folder.file("far.db"), record("x"), {ok_point(1, 1), ok_point(0, 1.001)});
  const auto all = folder.file("all.db");
  CHECK(merge_sweeps(all, {a, near}).front().done == 1);

  const std::string said = complaint(all, {near, far});
  CHECK(contains(said, "point 0 of mine (training.micro_batch 1) is 'ok, 1 s' in '" + near +
                           "', and 'ok, 1.001 s' in '" + far + "'"));
  CHECK(points_in(all, record("x")) == "0:ok");
}

TEST_CASE("files that disagree about a state leave the result as it was, or do not make it") {
  const TemporaryFolder folder;
  const auto a = made(folder.file("a.db"), record("x"), {ok_point(0, 1), ok_point(1, 1)});
  const auto b = made(folder.file("b.db"), record("x"), {refused(1)});
  const auto all = folder.file("all.db");
  CHECK(contains(complaint(all, {a, b}), "'refused: 4 does not divide 6' in '" + b + "'"));
  CHECK_FALSE(fs::exists(all));
  made(all, record("x"), {ok_point(3, 1)});
  CHECK(complaint(all, {a, b}) != "");
  CHECK(points_in(all, record("x")) == "3:ok");
}

TEST_CASE("points of different builds are united where that is asked, and stay told apart") {
  const TemporaryFolder folder;
  const auto built = [](SweepPoint point, const std::string& build) {
    point.build = build;
    return point;
  };
  const auto a = made(folder.file("a.db"), record("x"), {built(ok_point(0, 1), "1 a")});
  const auto b = made(folder.file("b.db"), record("x"), {built(ok_point(1, 1), "2 b")});
  const auto all = folder.file("all.db");
  const std::string said = complaint(all, {a, b});
  CHECK(contains(said, "different builds of stepsim, 1 a and 2 b (--any-build"));
  CHECK_FALSE(fs::exists(all));
  CHECK(merge_sweeps(all, {a, b}, true).front().done == 2);
  SweepStore store = SweepStore::reader(all);
  store.look_at(record("x"));
  CHECK(store.some({0}).front().build == "1 a");
  CHECK(store.some({1}).front().build == "2 b");
  // What is mixed once stays so.
  CHECK(contains(complaint(folder.file("again.db"), {all}), "different builds"));
  CHECK(contains(complaint(all, {a}), "different builds"));
  CHECK(merge_sweeps(all, {a}, true).front().done == 2);
}

TEST_CASE("a file with a point that cannot be is not merged") {
  const TemporaryFolder folder;
  SweepRecord larger = record("x");
  larger.axes[0].values.push_back({{"16"}, {}, {}});
  const auto a = made(folder.file("a.db"), record("x"), {ok_point(0, 1)});
  const auto b = made(folder.file("b.db"), larger, {ok_point(4, 1)});
  CHECK_THROWS_AS(merge_sweeps(a, {b}), UserError);
  CHECK(points_in(a, record("x")) == "0:ok");
}

TEST_CASE("sweeps of other profiles are refused") {
  const TemporaryFolder folder;
  const auto a = made(folder.file("a.db"), record("x"), {ok_point(0, 1)});
  SweepRecord other = record("x");
  other.inputs = "others";
  const auto profiles = made(folder.file("profiles.db"), other, {ok_point(1, 1)});
  const auto all = folder.file("all.db");
  CHECK(contains(complaint(all, {a, profiles}), "different profiles"));
  CHECK_FALSE(fs::exists(all));
}

TEST_CASE("what is no file of sweeps is said, and nothing is made") {
  const TemporaryFolder folder;
  const auto all = folder.file("all.db");
  CHECK_THROWS_AS(merge_sweeps(all, {folder.file("none.db")}), IoError);
  CHECK_THROWS_AS(merge_sweeps(all, {all}), IoError);
  std::ofstream(folder.file("letter.db")) << std::string(200, 'a');
  CHECK(contains(complaint(all, {folder.file("letter.db")}), "no file of sweeps"));
  std::ofstream(folder.file("empty.db")) << "";
  CHECK(contains(complaint(all, {folder.file("empty.db")}), "is empty"));
  CHECK_FALSE(fs::exists(all));
}

TEST_CASE("a file that may only be read can be merged") {
  const TemporaryFolder folder;
  const auto a = made(folder.file("a.db"), record("x"), {ok_point(0, 1)});
  fs::permissions(a, fs::perms::owner_read);
  CHECK(merge_sweeps(folder.file("all.db"), {a}).front().done == 1);
}
