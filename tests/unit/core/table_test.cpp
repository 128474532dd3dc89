// Tables of separated values: heads that no table has.
#include "sim/core/table.hpp"

#include <doctest/doctest.h>

#include "sim/core/error.hpp"

using namespace stepsim;

namespace {

std::string head_of(int columns) {
  std::string head;
  for (int i = 0; i < columns; ++i) head += (i == 0 ? "c" : ",c") + std::to_string(i);
  return head + "\n";
}

std::string complaint(const std::string& text) {
  Problems problems;
  (void)read_table(std::make_shared<const Source>(Source{"wide.csv", "", text}), problems);
  try {
    problems.throw_if_any();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a head of more columns than any table has is refused at once") {
  CHECK(complaint(head_of(1000)).empty());
  CHECK(complaint(head_of(1'000'000))
            .starts_with("wide.csv:1:1: the head has 1000000 columns, and a table 1000 at most, is "
                         "this the table that you mean?\n"));
}
