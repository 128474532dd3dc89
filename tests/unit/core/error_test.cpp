// Diagnostics: position, line, caret, proposal.
#include "sim/core/error.hpp"

#include <doctest/doctest.h>

#include "sim/core/source.hpp"

using namespace stepsim;

TEST_CASE("a diagnostic shows the line and a caret under the column") {
  const Diagnostic d{"h100.yaml",
                     2,
                     3,
                     "unknown key 'bandwith'",
                     "  bandwith: 900 GB/s",
                     "did you mean 'bandwidth'?"};
  CHECK(to_string(d) ==
        "h100.yaml:2:3: unknown key 'bandwith', did you mean 'bandwidth'?\n"
        "    bandwith: 900 GB/s\n"
        "    ^");
}

TEST_CASE("an error without a position is only its sentence") {
  CHECK(std::string(UserError("no such command 'rum'").what()) == "no such command 'rum'");
}

TEST_CASE("a very long line is cut around the caret") {
  const std::string text =
      to_string(Diagnostic{"a.yaml", 1, 5000, "bad", std::string(10000, 'x'), ""});
  CHECK(text.size() < 500);
}

TEST_CASE("a long text is quoted in part, a path whole: nobody finds a file by half its name") {
  const std::string long_text(200, 'x');
  CHECK(quoted(long_text) == "'" + std::string(60, 'x') + "...'");
  CHECK(quoted_path(long_text) == "'" + long_text + "'");
  CHECK(quoted_path("a\x1b") == "'a\\x1b'");
  CHECK(quoted_path(std::string(9000, 'x')).size() < 4200);
}
