// What may follow a setting that somebody has begun.
#include "sim/command/next_words.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "sim/command/list.hpp"
#include "sim/scenario/read/doc_writer.hpp"

namespace stepsim {
namespace {

std::vector<std::string> words_of(const std::vector<NextWord>& found) {
  std::vector<std::string> words;
  for (const NextWord& one : found) words.push_back(one.word);
  return words;
}

std::vector<std::string> next_words(const std::string& begun, bool has_lists = false) {
  return words_of(next_words_of_setting(begun, has_lists));
}

using Words = std::vector<std::string>;

TEST_CASE("every key of a scenario is offered, as a map or for its value") {
  for (const std::string& path : scenario_paths()) {
    // An item of a list, or what a scenario names itself, is no setting.
    if (path.find_first_of("[<") != std::string::npos) continue;
    const Words found = next_words(path);
    CAPTURE(path);
    CHECK(std::ranges::any_of(
        found, [&](const std::string& word) { return word == path + "." || word == path + "="; }));
  }
}

TEST_CASE("a value is a word of its key, or a name that its meaning points to") {
  CHECK(next_words("parallelism.sequence=") ==
        Words{"parallelism.sequence=true", "parallelism.sequence=false"});
  CHECK(next_words("parallelism.context.kind=all") ==
        Words{"parallelism.context.kind=all_gather", "parallelism.context.kind=all_to_all"});
  CHECK(next_words("cluster.inter_node.topology=").size() == names_of_listing("topologies").size());
  CHECK(next_words("cluster.intra_node=nvlink4") ==
        Words{"cluster.intra_node=nvlink4", "cluster.intra_node=nvlink4-h800"});
  CHECK(next_words("parallelism.tensor=").empty());
  CHECK(next_words("no.such.key").empty());
  CHECK(next_words("").size() > 5);
}

TEST_CASE("with lists, what stands before a comma stays") {
  CHECK(next_words("parallelism.tensor,training.micro_b", true) ==
        Words{"parallelism.tensor,training.micro_batch="});
  CHECK(next_words("parallelism.sequence=true,f", true) ==
        Words{"parallelism.sequence=true,false"});
  CHECK(next_words("parallelism.tensor,training.micro_b").empty());
}

TEST_CASE("a meaning points to names by their command or their folder") {
  CHECK(words_of(names_pointed_to("a name of `stepsim list schedules`")) ==
        names_of_listing("schedules"));
  CHECK(words_of(names_pointed_to("a name in models/, or a path")) == names_of_listing("models"));
  CHECK(names_pointed_to("files of models/").empty());
}

}  // namespace
}  // namespace stepsim
