// Every mistake that a file of measurements can hold has its message, with its place.
//
// A case is a file of tests/errors/measurements and <file>.expected, the exact text. After a wanted
// change of wording, run with STEPSIM_UPDATE=1 and read the difference.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "sim/calibrate/measurement/read_measurements.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = fs::path(source_folder()) / "tests/errors/measurements";

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> all_cases() {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() != ".expected") cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  return cases;
}

/// What is said about the file, under its bare name.
std::string said_of(const fs::path& path) {
  const auto source = std::make_shared<Source>(Source{path.filename().string(), "", text_of(path)});
  Problems problems;
  (void)read_measurements(source, problems);
  try {
    problems.throw_if_any();
  } catch (const UserError& error) {
    return std::string(error.what()) + "\n";
  }
  return "";
}

}  // namespace

TEST_CASE("every wrong file of measurements gives exactly the messages that are expected") {
  const auto cases = all_cases();
  REQUIRE(cases.size() >= 12);
  for (const fs::path& path : cases) {
    CAPTURE(path.filename().string());
    const std::string said = said_of(path);
    const fs::path expected = path.string() + ".expected";
    if (std::getenv("STEPSIM_UPDATE") != nullptr) std::ofstream(expected, std::ios::binary) << said;
    CHECK_FALSE(said.empty());
    CHECK(said == text_of(expected));
  }
}

TEST_CASE("cutting a good file anywhere gives a message, or a smaller file, and never a crash") {
  const std::string text =
      "# kind=copy\n# host=pinned\n# direction=h2d\nbytes,time_us\n4096,2.1\n8192,3.5\n";
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto source = std::make_shared<Source>(Source{"x.csv", "", text.substr(0, length)});
    Problems problems;
    const auto file = read_measurements(source, problems);
    CHECK(file.places.size() <= 2);
    CHECK(file.places.size() == file.content.records.size());
  }
}
