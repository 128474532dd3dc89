// A key is found by its path, by a framework's name for it and by a word of its meaning.
#include "sim/command/keys.hpp"

#include <sstream>

#include <doctest/doctest.h>

using namespace stepsim;

namespace {

std::string printed(const std::string& wanted) {
  std::ostringstream out;
  keys({.wanted = wanted, .screen = {}}, out);
  return out.str();
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a path has its type, range, default and meaning, and what is below it") {
  const std::string batch = printed("training.global_batch");
  CHECK(
      batch.starts_with("training.global_batch\n  integer, between 1 and 1000000000; required\n"));
  const std::string recompute = printed("training.recompute");
  CHECK(has(recompute, "training.recompute.kind\n"));
  CHECK(has(recompute, "training.recompute.layers\n"));
  CHECK(!has(recompute, "training.global_batch"));
  CHECK(printed("data.bucket") == printed("parallelism.data.bucket"));
}

TEST_CASE("a framework's name leads to the key, with what is different about it") {
  const std::string text = printed("train_micro_batch_size_per_gpu");
  CHECK(text.starts_with(
      "train_micro_batch_size_per_gpu: training.micro_batch, sequences of one pass of one rank\n"));
  CHECK(has(text, "\ntraining.micro_batch\n"));
}

TEST_CASE("a word leads to the keys that have it in their path or meaning") {
  const std::string text = printed("page cache");
  CHECK(has(text, "data.storage.page_cache"));
  CHECK(!has(text, "training."));
}

TEST_CASE("without a word the maps of a scenario are there, and a word of nothing is refused") {
  CHECK(has(printed(""), "\nparallelism\n"));
  CHECK_THROWS_WITH_AS(printed("micro_bach"), doctest::Contains("did you mean 'micro_batch'?"),
                       UserError);
  CHECK_THROWS_WITH_AS(printed("xyzzyplugh"), doctest::Contains("no key is called"), UserError);
}
