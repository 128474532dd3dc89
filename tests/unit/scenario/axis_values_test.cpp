// Values of an axis: lists, ranges, linked keys, and what is wrong with them.
#include "sim/scenario/sweep/axis_values.hpp"

#include <doctest/doctest.h>

#include "sim/core/error.hpp"

using namespace stepsim;

namespace {

std::vector<std::string> values_of(const std::string& text) {
  Problems problems;
  const SweepAxis axis = parse_vary("training.micro_batch=" + text, problems);
  problems.throw_if_any();
  std::vector<std::string> values;
  for (const AxisValue& value : axis.values) values.push_back(text_of(value));
  return values;
}

std::string error_of(const std::string& text) {
  Problems problems;
  parse_vary(text, problems);
  try {
    problems.throw_if_any();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a list has the values that it says, in its order") {
  CHECK(values_of("4, 1,2") == Texts{"4", "1", "2"});
  CHECK(values_of("[1, 2], [3, 4]") == Texts{"[1, 2]", "[3, 4]"});
  CHECK(values_of("1e400/a.json") == Texts{"1e400/a.json"});
}

TEST_CASE("a range counts from its begin to its end, both included") {
  CHECK(values_of("1..4") == Texts{"1", "2", "3", "4"});
  CHECK(values_of("10..40+10") == Texts{"10", "20", "30", "40"});
  CHECK(values_of("10..39+10") == Texts{"10", "20", "30"});
  CHECK(values_of("0.1..0.4+0.1") == Texts{"0.1", "0.2", "0.3", "0.4"});
  CHECK(values_of("1, 8..10") == Texts{"1", "8", "9", "10"});
}

TEST_CASE("a geometric range multiplies") {
  CHECK(values_of("1..8*2") == Texts{"1", "2", "4", "8"});
  CHECK(values_of("1e-3..1*10") == Texts{"0.001", "0.01", "0.1", "1"});
}

TEST_CASE("a unit of either end holds for both, and ends in two units meet in the first") {
  CHECK(values_of("1..4 MiB*2") == Texts{"1 MiB", "2 MiB", "4 MiB"});
  CHECK(values_of("512 MiB..2 GiB*2") == Texts{"512 MiB", "1024 MiB", "2048 MiB"});
  CHECK(values_of("1MiB..1.5MiB+256KiB") == Texts{"1 MiB", "1.25 MiB", "1.5 MiB"});
}

TEST_CASE("numbers are in base units, words are none") {
  Problems problems;
  const SweepAxis axis = parse_vary("a.b=25 MiB, 400 Gbit/s, zero1, 50 %", problems);
  REQUIRE(axis.values.size() == 4);
  CHECK(axis.values[0].number == 25 * 1048576.0);
  CHECK(axis.values[1].number == 50e9);
  CHECK_FALSE(axis.values[2].number.has_value());
  CHECK(axis.values[3].number == 0.5);
}

TEST_CASE("linked keys take their values in pairs") {
  Problems problems;
  const SweepAxis axis = parse_vary("a.x, b.y=1:16, 2:8", problems);
  CHECK(problems.empty());
  CHECK(axis.paths == Texts{"a.x", "b.y"});
  REQUIRE(axis.values.size() == 2);
  CHECK(axis.values[1].texts == Texts{"2", "8"});
}

TEST_CASE("what cannot be an axis says why") {
  CHECK(error_of("a") ==
        "--vary a: no '=' between key and values, write \"path=values\", as in "
        "\"training.micro_batch=1..8\"");
  CHECK(error_of("a=").find("has no values") != std::string::npos);
  CHECK(error_of("a=1,,2").find("a value is empty") != std::string::npos);
  CHECK(error_of("a=1,2,1").find("'1' stands twice") != std::string::npos);
  CHECK(error_of("a=8..1").find("ends before it begins") != std::string::npos);
  CHECK(error_of("a=1..8*1").find("never ends") != std::string::npos);
  CHECK(error_of("a=1..8+0").find("never ends") != std::string::npos);
  CHECK(error_of("a=0..8*2").find("never ends") != std::string::npos);
  CHECK(error_of("a=1..x").find("has no number in 'x'") != std::string::npos);
  CHECK(error_of("a=1..8 parsecs").find("unknown unit 'parsecs'") != std::string::npos);
  CHECK(error_of("a=1 MiB..8 GB/s").find("mixes") != std::string::npos);
  CHECK(error_of("a=1..1e9").find("more than 100000 values") != std::string::npos);
  CHECK(error_of("a,a=1:2").find("linked to itself") != std::string::npos);
  CHECK(error_of("a,b=1:2,3").find("1 values for 2 linked keys") != std::string::npos);
}
