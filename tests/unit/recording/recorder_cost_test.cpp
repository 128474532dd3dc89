// What a profiler adds to the host, against the shipped measurement.
#include "sim/recording/recorder_cost.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "sim/recording/launch_pace.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

TEST_CASE("a recorded host is slower as it was measured, by what is recorded") {
  std::ifstream file(std::string(source_folder()) + "/calib/measured/recorders.csv");
  REQUIRE(file.good());
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("record_shapes,")) continue;
    CAPTURE(line);
    std::istringstream text(line);
    std::string shapes, memory, stacks, times;
    std::getline(text, shapes, ',');
    std::getline(text, memory, ',');
    std::getline(text, stacks, ',');
    std::getline(text, times, ',');
    ReadingNotes notes;
    notes.has_shapes = shapes == "yes";
    notes.has_memory = memory == "yes";
    notes.has_stacks = stacks == "yes";
    CHECK(recorder_slowdown(notes) == 1);  // no operators, no cost
    notes.has_operators = true;
    CHECK(recorder_slowdown(notes) == std::stod(times));
    ++rows;
  }
  CHECK(rows == 8);
}

TEST_CASE("calls of the driver take as long with a profiler as without") {
  // 100 launches in 3 ms, 0.4 ms of it in the driver: 0.4 + 2.6 / 2 is left.
  const LaunchPace pace{.launches = 100, .seconds = 3e-3, .calls = 0.4e-3, .slowdown = 2};
  CHECK(pace.unrecorded_seconds() == doctest::Approx(1.7e-3));
}
