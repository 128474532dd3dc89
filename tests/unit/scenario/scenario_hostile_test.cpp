// Files that mean no good: huge, deep, binary, endless. Each is refused at once, with a sentence.
#include <ctime>
#include <fstream>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

const Library kLibrary{{std::string(source_folder()) + "/tests/errors/library"}};

std::string error_of(const std::string& text) {
  const std::clock_t start = std::clock();
  std::string message = "none";
  try {
    parse_scenario(text, "hostile.yaml", kLibrary);
  } catch (const UserError& error) {
    message = error.what();
  }
  // Milliseconds of CPU time in practice; the margin is for a sanitizer.
  CHECK(std::clock() - start < 5 * CLOCKS_PER_SEC);
  return message.substr(0, message.find('\n'));
}

std::string repeated(const std::string& part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

}  // namespace

TEST_CASE("files that are too large are refused unread") {
  const std::string message =
      "hostile.yaml: the file is larger than 1 MiB: this is no scenario, model or profile";
  CHECK(error_of(repeated("[", 10'000'000)) == message);
  CHECK(error_of(repeated("name: x\n", 50'000'000 / 8)) == message);
}

TEST_CASE("brackets, blocks and lists that nest without end are refused") {
  CHECK(error_of(std::string(1'000'000, '[')) ==
        "hostile.yaml:1:65: more than 64 brackets are open here");
  CHECK(error_of("name: " + repeated("{a: ", 200'000)) ==
        "hostile.yaml:1:263: more than 64 brackets are open here");
  CHECK(error_of(repeated("- ", 500'000)).find("nested more than 64 deep") != std::string::npos);
  CHECK(error_of(repeated("? ", 500'000)).find("nested more than 64 deep") != std::string::npos);
  std::string stairs;
  for (std::size_t depth = 0; depth < 1000; ++depth) stairs += std::string(depth, ' ') + "a:\n";
  CHECK(error_of(stairs) == "hostile.yaml:65:65: maps and lists are nested more than 64 deep here");
  CHECK(error_of("a: " + repeated("'[' ", 100)) != "none");
}

TEST_CASE("brackets in quotes that hide deep nesting are refused by the parser") {
  CHECK(error_of(repeated("[\"]\", ", 150'000)).find("nested more than 64 deep") !=
        std::string::npos);
}

TEST_CASE("an alias bomb is refused by the number of its values") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias +
            repeated(", " + alias, 9) + "]\n";
  }
  CHECK(error_of(bomb).find("more than 20000 values up to here") != std::string::npos);
  const std::string long_text =
      "a: &a " + std::string(500'000, 'x') + "\nb: [*a" + repeated(", *a", 10'000) + "]\n";
  CHECK(error_of(long_text).find("more than 20000 values up to here") != std::string::npos);
}

TEST_CASE("many mistakes are cut at a hundred") {
  std::string text;
  for (int i = 0; i < 9000; ++i) text += "key" + std::to_string(i) + ": 1\n";
  try {
    parse_scenario(text, "hostile.yaml", kLibrary);
    FAIL("no error");
  } catch (const UserError& error) {
    REQUIRE(error.diagnostics().size() == 101);
    CHECK(error.diagnostics().back().message.starts_with("and "));
    CHECK(error.diagnostics().back().message.ends_with(" more mistakes"));
  }
  const std::string rest =
      "model: tiny\ncluster: pod\ntraining: {sequence_length: 512, global_batch: 64}\n";
  CHECK(error_of(rest + repeated("name: x\n", 9000)) ==
        "hostile.yaml:5:1: duplicate key 'name' in the scenario, first given on line 4");
}

TEST_CASE("a key or a value of a megabyte is quoted in part") {
  CHECK(error_of(std::string(900'000, 'k') + ": 1\n").size() < 400);
  CHECK(error_of("model: " + std::string(900'000, 'm') + "\n").size() < 400);
}

TEST_CASE("what is not text is refused with its position") {
  CHECK(error_of(std::string("name: a\0b\n", 10)) ==
        "hostile.yaml:1:8: byte 0x00 is not text: the file must be YAML in UTF-8");
  CHECK(error_of("name: x\n  \xff\xfe\n") ==
        "hostile.yaml:2:3: byte 0xff is not text: the file must be YAML in UTF-8");
  CHECK(error_of("name: \x1b[31mred\n") ==
        "hostile.yaml:1:7: byte 0x1b is not text: the file must be YAML in UTF-8");
  CHECK(error_of("name: \"\\e[31m\"\n") ==
        "hostile.yaml:1:7: this text holds a control character or is not UTF-8");
  CHECK(error_of("\xef\xbb\xbf"
                 "model: tinny\n")
            .starts_with("hostile.yaml:1:"));
}

TEST_CASE("empty files and files without a map are refused") {
  CHECK(error_of("") == "hostile.yaml:1:1: the file is empty: a scenario is a map of keys");
  CHECK(error_of("# nothing\n") ==
        "hostile.yaml:1:1: the file is empty: a scenario is a map of keys");
  CHECK(error_of("just words\n") == "hostile.yaml:1:1: a scenario is a map of keys, not a value");
}

TEST_CASE("a folder and a missing file are no scenario") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(load_scenario(folder.path().string()), doctest::Contains("it is a folder"),
                       IoError);
  CHECK_THROWS_WITH_AS(load_scenario((folder.path() / "none.yaml").string()),
                       doctest::Contains("No such file or directory"), IoError);
}

TEST_CASE(
    "a file of 50 MB, a folder without a model and a device are refused where a model is named") {
  const TemporaryFolder folder;
  const std::string rest = "cluster: pod\ntraining: {sequence_length: 512, global_batch: 64}\n";
  std::ofstream(folder.path() / "big.yaml") << repeated("#", 50'000'000);
  CHECK(error_of("model: " + (folder.path() / "big.yaml").string() + "\n" + rest)
            .find("larger than 1 MiB") != std::string::npos);
  CHECK(error_of("model: " + folder.path().string() + "/\n" + rest)
            .find("/config.json': No such file or directory") != std::string::npos);
  CHECK(error_of("model: /dev/zero\n" + rest).find("it is a device") != std::string::npos);
}

TEST_CASE("a long chain of bases is followed without harm") {
  const TemporaryFolder folder;
  for (int i = 0; i < 200; ++i) {
    std::ofstream(folder.path() / (std::to_string(i) + ".yaml"))
        << "base: ./" << (i + 1) % 200 << ".yaml\n";
  }
  CHECK(error_of("model: " + (folder.path() / "0.yaml").string() +
                 "\ncluster: pod\n"
                 "training: {sequence_length: 512, global_batch: 64}\n")
            .find("is based on itself") != std::string::npos);
}

TEST_CASE("merged maps count behind the keys beside them, the earlier one first") {
  const Scenario s = parse_scenario(
      "model: tiny\ncluster: pod\n"
      "training: {<<: [{micro_batch: 1, global_batch: 64}, {micro_batch: 4, sequence_length: 512}],"
      " global_batch: 32}\n",
      "merged.yaml", kLibrary);
  CHECK(s.training.micro_batch == 1);
  CHECK(s.training.global_batch == 32);
  CHECK(s.training.sequence_length == 512);
}
