// Whatever the text, a scenario is read or refused: never a crash, a hang or another exception.
//
// Valid scenarios are mutated at random: bytes, lines, words and numbers are changed, dropped,
// doubled and swapped. The seed is fixed. STEPSIM_FUZZ_SECONDS (default 3) says how long,
// STEPSIM_FUZZ_SEED where to begin.
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <random>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

const std::string kRoot = source_folder();
const Library kLibrary{{kRoot + "/tests/errors/library"}};

const std::vector<std::string> kSeeds{
    "model: tiny\ncluster: pod\ntraining:\n  sequence_length: 512\n  global_batch: 64\n"
    "parallelism:\n  tensor: 8\n  pipeline: {stages: 2, layers: [4, 4]}\n  data: {sharding: zero1, "
    "bucket: 25 MiB}\n"
    "expect:\n  step_time: \"<= 4.6 s\"\n  fits: true\n",
    "name: two\nmodel: {base: rotary, layers: 8}\ncluster: {base: pod, nodes: 2, inter_node: "
    "{latency: 3 us}}\n"
    "training: {sequence_length: 1_024, global_batch: 1.6e2, attention: flash2, precision: fp16}\n"
    "data:\n  storage: {bandwidth: 2 GB/s, latency: 100 us}\n  sample_size: 1 KiB\n  decode: 200 "
    "samples/s\n",
    "model: stack\ncluster:\n  gpu: testgpu\n  nodes: 2\n  gpus_per_node: 4\n"
    "  intra_node: {bandwidth: 25 GB/s, efficiency: 80 %, latency: 5 us}\n"
    "  inter_node: {topology: fat_tree, bandwidth: 200 Gbit/s, latency: 14 us, nodes_per_leaf: 1}\n"
    "training: {global_batch: 64, recompute: full}\nhost: {mode: graph}\nrun: {steps: 3, seed: "
    "9}\n",
    "x: &x {a: [1, 2], b: \"c\\n\"}\ny: *x\nz: |\n  text\n  more\nw: >-\n  folded\n? key\n: "
    "value\n--- \n...\n"};

const std::vector<std::string> kPieces{
    "0",       "-1",          "1e999",      "nan",     ".inf",      "null",
    "~",       "true",        "yes",        "010",     "0x10",      "9223372036854775808",
    "{",       "}",           "[",          "]",       ":",         ": ",
    "- ",      "? ",          "&a ",        "*a",      "<<: ",      "!",
    "!!str ",  "%YAML 9.9\n", "%TAG ! x\n", "---\n",   "...\n",     "\"",
    "'",       "|",           ">",          "#",       " # ",       "\t",
    "\r\n",    "\n",          "  ",         "@",       "`",         "\\",
    "\\u0000", "\xc3\xa9",    "\xff",       "base: ",  "base: pod", "like: ",
    "model: ", "cluster: ",   ",",          "1_0",     "%",         " GB/s",
    " us",     " samples/s",  "<= ",        "tensor: "};

using Random = std::mt19937_64;

std::size_t below(std::size_t limit, Random& random) { return limit == 0 ? 0 : random() % limit; }

void mutate(std::string& text, Random& random) {
  const std::size_t at = below(text.size() + 1, random);
  const std::size_t length = below(std::min<std::size_t>(text.size() - at + 1, 12), random);
  switch (below(7, random)) {
    case 0:
      text.insert(at, kPieces[below(kPieces.size(), random)]);
      break;
    case 1:
      text.replace(at, length, kPieces[below(kPieces.size(), random)]);
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:
      text.insert(below(text.size() + 1, random), text.substr(at, length * 4));
      break;
    case 4:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 5: {
      const std::size_t end = text.find('\n', at);
      if (end != std::string::npos) text.erase(at, end - at);
      break;
    }
    default: {
      const std::string& other = kSeeds[below(kSeeds.size(), random)];
      text.insert(at, other.substr(below(other.size(), random), below(80, random)));
    }
  }
}

enum class Outcome { read, refused };

/// Anything but a scenario or a UserError ends the test with the text.
Outcome outcome_of(const std::string& text, const std::vector<Override>& overrides) {
  try {
    const Scenario scenario =
        parse_scenario(text, kRoot + "/tests/errors/library/fuzz.yaml", kLibrary, overrides);
    CHECK(parse_scenario(to_yaml(scenario), "again.yaml", kLibrary) == scenario);
    return Outcome::read;
  } catch (const UserError& error) {
    CHECK_FALSE(error.diagnostics().empty());
    return Outcome::refused;
  }
}

std::uint64_t number_from(const char* variable, std::uint64_t preset) {
  const char* text = std::getenv(variable);
  return text == nullptr ? preset : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("what is mutated is valid, but for the last") {
  for (std::size_t i = 0; i + 1 < kSeeds.size(); ++i) {
    CHECK_NOTHROW(parse_scenario(kSeeds[i], kRoot + "/tests/errors/library/fuzz.yaml", kLibrary));
  }
}

TEST_CASE("a mutated scenario is read or refused") {
  using Clock = std::chrono::steady_clock;
  Random random(number_from("STEPSIM_FUZZ_SEED", 1));
  const auto end = Clock::now() + std::chrono::seconds(number_from("STEPSIM_FUZZ_SECONDS", 3));
  std::size_t read = 0, refused = 0;
  for (int i = 0; i < 500 || Clock::now() < end; ++i) {
    std::string text = kSeeds[below(kSeeds.size(), random)];
    for (std::size_t n = below(2, random) * below(6, random) + 1; n > 0; --n) mutate(text, random);
    std::vector<Override> overrides;
    if (below(4, random) == 0) {
      std::string value = kPieces[below(kPieces.size(), random)];
      mutate(value, random);
      const char* paths[] = {"cluster.nodes", "model.layers", "training",
                             "expect.mfu",    "a..b",         "data.storage.x"};
      overrides.push_back({paths[below(6, random)], value});
    }
    CAPTURE(text);
    const std::clock_t start = std::clock();  // of the processor: others may use it, too
    (outcome_of(text, overrides) == Outcome::read ? read : refused) += 1;
    REQUIRE(std::clock() - start < 5 * CLOCKS_PER_SEC);
  }
  MESSAGE("read " << read << ", refused " << refused);
  CHECK(read > 0);
  CHECK(refused > read);
}
