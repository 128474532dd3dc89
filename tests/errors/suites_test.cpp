// Every mistake that a suite or its table can hold has its message, with its place.
//
// A case is a .yaml of tests/errors/suites and <file>.expected, the exact text. After a wanted
// change of wording, run with STEPSIM_UPDATE=1 and read the difference.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/scenario/suite/load_suite.hpp"
#include "sim/scenario/suite/suite_filter.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = fs::path(source_folder()) / "tests/errors/suites";

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What is said of it and of its filter, with bare names of files.
std::string said_of(const SuiteRequest& request) {
  try {
    check_filter(request.filter, {load_suite(request)});
  } catch (const UserError& error) {
    std::string text = std::string(error.what()) + "\n";
    const std::string prefix = kFolder.string() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
      text.erase(at, prefix.size());
    return text;
  }
  return "";
}

}  // namespace

TEST_CASE("every wrong suite gives exactly the messages that are expected") {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".yaml") cases.push_back(entry.path());
  REQUIRE(cases.size() >= 7);
  for (const fs::path& path : cases) {
    CAPTURE(path.filename().string());
    const std::string said = said_of({.path = path.string()});
    const fs::path expected = path.string() + ".expected";
    if (std::getenv("STEPSIM_UPDATE") != nullptr) std::ofstream(expected, std::ios::binary) << said;
    CHECK_FALSE(said.empty());
    CHECK(said == text_of(expected));
  }
}

TEST_CASE("another table without the suite's columns is refused, and so is a filter of none") {
  const std::string suite = std::string(source_folder()) + "/validate/suites/korthikanti.yaml";
  const std::string said =
      said_of({.path = suite, .table = (kFolder / "rows.csv").string(), .filter = ""});
  CHECK(said.find("rows.csv:2:1: no column 'iter_time_s', which the suite reads in measured, did "
                  "you mean 'iter_time'?") != std::string::npos);
  CHECK(said_of({.path = suite, .table = "", .filter = "nodez > 1"}) ==
        "--filter: no column 'nodez' in the table, did you mean 'nodes'?\n  nodez > 1\n  ^\n");
  CHECK(said_of({.path = suite, .table = "", .filter = "nodes * 2"}) ==
        "--filter: 'nodes * 2' is no condition: it is '2' here, compare with ==, <, > or their "
        "like\n  nodes * 2\n  ^\n");
  const std::string divided = said_of({.path = suite, .table = "", .filter = "1 / 0 > 1"});
  CHECK(divided.starts_with("--filter: '1 / 0 > 1' has no value in row "));
  CHECK(divided.ends_with(": division by zero\n  1 / 0 > 1\n    ^\n"));
}
