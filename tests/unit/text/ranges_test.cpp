// Ranges of whole numbers, both ways.
#include "sim/text/ranges.hpp"

#include <doctest/doctest.h>

using namespace stepsim;

TEST_CASE("numbers are written as ranges and read again") {
  const auto same = [](const std::vector<int>& numbers, const std::string& text) {
    CHECK(ranges_text(numbers) == text);
    CHECK(numbers_of_ranges(text) == numbers);
  };
  same({}, "");
  same({7}, "7");
  same({0, 1, 2, 3}, "0-3");
  same({0, 8, 16, 24}, "0-24:8");
  same({0, 1, 2, 16, 24, 32}, "0-2,16-32:8");
  same({0, 5, 6, 7}, "0,5-7");
  same({3, 9}, "3,9");
}

TEST_CASE("ranges may overlap and come in any order") {
  CHECK(numbers_of_ranges("8-10,0,9") == std::vector<int>{0, 8, 9, 10});
  CHECK(numbers_of_ranges("0-10:4") == std::vector<int>{0, 4, 8});
}

TEST_CASE("what is no range is nothing") {
  for (const char* text : {"a", "1-", "-1", "3-1", "1,", ",1", "1;2", "1-5:0", "1-5:", "1--2",
                           "0-2000000000", "99999999999", "1 2"}) {
    CAPTURE(text);
    CHECK_FALSE(numbers_of_ranges(text));
  }
}
