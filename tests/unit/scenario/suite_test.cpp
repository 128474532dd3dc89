// Suites: from a file and its table to runs and scenarios.
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>

#include "sim/scenario/suite/error_record.hpp"
#include "sim/scenario/suite/load_suite.hpp"
#include "sim/scenario/suite/run_record_file.hpp"
#include "sim/scenario/suite/suite_filter.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

constexpr const char* kSuite = R"(
suite: small
title: A small suite
source: a test
assumptions: [nothing is known]
scenario:
  cluster: dgx-a100-80
  model: mpt-125m
  training: {micro_batch: 4}
table: small.csv
where: kind == "train"
map:
  model.base: {of: size, values: {S: mpt-125m, M: mpt-350m}}
  cluster.nodes: gpus / 8
  training.global_batch: batch * gpus
  training.sequence_length: 2048
  parallelism.pipeline.stages: gpus / 8
  parallelism.pipeline.layers:
    of: gpus / 8
    values: {2: "[13, 11]"}
    otherwise: ""
  training.recompute: 'full == "yes" ? "full" : ""'
measured: time_ms ms
label: size // " on " // gpus
groups: {size: size, nodes: gpus / 8}
known:
  - where: gpus > 8
    reason: |
      the network
      is shared
)";
constexpr const char* kTable =
    "# who measured it\nsize,gpus,batch,kind,full,time_ms,more\n"
    "S,8,4,train,yes,120.5,\"a, b\"\nM,16,8,train,no,80,\nM,8,8,infer,,,\n";

}  // namespace

TEST_CASE("rows become runs with settings, groups, times and what is known") {
  const TemporaryFolder folder;
  folder.file("small.csv", kTable);
  const LoadedSuite loaded = load_suite({.path = folder.file("small.yaml", kSuite)});
  CHECK(loaded.suite.name == "small");
  CHECK(loaded.suite.assumptions == std::vector<std::string>{"nothing is known"});
  REQUIRE(loaded.runs.size() == 2);
  const MeasuredRun& first = loaded.runs[0];
  CHECK(first.label == "S on 8");
  CHECK(first.place.line == 3);
  CHECK(first.measured->seconds() == doctest::Approx(0.1205));
  CHECK(first.known.empty());
  CHECK(first.groups.front() == std::pair<std::string, std::string>{"size", "S"});
  CHECK(first.settings.size() == 6);
  CHECK(loaded.runs[1].settings.size() == 6);  // recompute is left as it is
  CHECK(loaded.runs[1].known == "the network is shared");
  CHECK(loaded.runs[1].groups.back().second == "2");
}

TEST_CASE("a run as nobody had seen it has the suite's other values over its settings") {
  const TemporaryFolder folder;
  folder.file("small.csv", kTable);
  const std::string text = std::string(kSuite) +
                           "publisher: a team\nunseen:\n  cluster.gpu: '\"a100-40\"'\n"
                           "  training.micro_batch: 'gpus > 8 ? 2 : \"\"'\n";
  const LoadedSuite loaded = load_suite({.path = folder.file("small.yaml", text)});
  CHECK(loaded.suite.publisher == "a team");
  CHECK(load_suite({.path = folder.file("other.yaml", kSuite)}).suite.publisher == "small");
  const auto as = [&](Settings settings) {
    return scenario_of(loaded.suite, loaded.runs[1], {}, settings);
  };
  CHECK(as(Settings::all).cluster.gpu.name == "a100-80");
  CHECK(as(Settings::all).training.micro_batch == 4);
  CHECK(as(Settings::unseen).cluster.gpu.name == "a100-40");
  CHECK(as(Settings::unseen).training.micro_batch == 2);
  CHECK(loaded.runs[0].unseen.size() == 1);

  const std::string wrong = std::string(kSuite) + "unseen: {cluster.gpus: 8}\n";
  CHECK_THROWS_WITH_AS(load_suite({.path = folder.file("wrong.yaml", wrong)}),
                       doctest::Contains("no key 'cluster.gpus' in a scenario"), UserError);
}

TEST_CASE("a run's scenario is the base with its settings") {
  const TemporaryFolder folder;
  folder.file("small.csv", kTable);
  const LoadedSuite loaded = load_suite({.path = folder.file("small.yaml", kSuite)});
  const Scenario first = scenario_of(loaded.suite, loaded.runs[0]);
  CHECK(first.model.name == "mpt-125m");
  CHECK(first.training.global_batch == 32);
  CHECK(first.training.micro_batch == 4);
  CHECK(first.training.recompute.kind == Recompute::full);
  const Scenario second = scenario_of(loaded.suite, loaded.runs[1]);
  CHECK(second.model.name == "mpt-350m");
  CHECK(second.cluster.nodes == 2);
  CHECK(second.training.recompute.kind == Recompute::none);
  CHECK(first.parallelism.pipeline.layers.empty());
  CHECK(second.parallelism.pipeline.layers.size() == 2);
}

TEST_CASE("what stands for a cell's text may be blank, a cell may not") {
  const TemporaryFolder folder;
  folder.file("small.csv", kTable);
  const auto settings = [&](const std::string& phrase) {
    std::string suite = kSuite;
    const std::string key = "  training.recompute: ";
    const auto at = suite.find(key) + key.size();
    suite.replace(at, suite.find('\n', at) - at, phrase);
    return load_suite({.path = folder.file("other.yaml", suite)}).runs[1].settings.size();
  };
  CHECK(settings("{of: full, values: {\"yes\": full}, otherwise: \"\"}") == 6);
  CHECK_THROWS_AS(settings("more"), UserError);
}

TEST_CASE("a filter sees columns and groups") {
  const TemporaryFolder folder;
  folder.file("small.csv", kTable);
  const std::string path = folder.file("small.yaml", kSuite);
  CHECK(load_suite({.path = path, .filter = "nodes == 2 and size == \"M\""}).runs.size() == 1);
  CHECK(load_suite({.path = path, .filter = "suite == \"small\""}).runs.size() == 2);
}

TEST_CASE(
    "a suite that lacks a filter's column has no rows, and one that no suite has is refused") {
  const TemporaryFolder folder;
  folder.file("small.csv", kTable);
  std::string other = kSuite;
  other.replace(other.find("small"), 5, "other");
  other.replace(other.find("nodes: gpus / 8}"), 5, "hosts");
  const std::string small = folder.file("small.yaml", kSuite);
  const std::string named = folder.file("other.yaml", other);
  const auto load = [&](const std::string& filter) {
    return std::vector<LoadedSuite>{load_suite({.path = small, .filter = filter}),
                                    load_suite({.path = named, .filter = filter})};
  };
  const auto both = load("nodes == 2");
  CHECK(both[0].runs.size() == 1);
  CHECK(both[1].runs.empty());
  CHECK(both[1].filter_lacks == std::vector<std::string>{"nodes"});
  CHECK_NOTHROW(check_filter("nodes == 2", both));
  CHECK(filter_notes(both) == "--filter: no rows of other, which has no column 'nodes'\n");
  CHECK(filter_notes(load("gpus == 8")).empty());

  CHECK_THROWS_WITH_AS(
      check_filter("gpus == 8 and nodez == 2", load("gpus == 8 and nodez == 2")),
      doctest::Contains("no column 'nodez' in any of the 2 suites, did you mean 'nodes'?"),
      UserError);
  const std::string none = "zzz == 2";
  CHECK_THROWS_WITH_AS(check_filter(none, {load_suite({.path = small, .filter = none})}),
                       doctest::Contains("no column 'zzz' in the table, known: size, "
                                         "nodes, suite, gpus, batch, kind, full, time_ms, more"),
                       UserError);
}

TEST_CASE("another table may have rows that cannot be used, each with its reason") {
  const TemporaryFolder folder;
  folder.file("small.csv", kTable);
  const std::string other = folder.file("other.csv",
                                        "size,gpus,batch,kind,full,time_ms\n"
                                        "XL,8,4,train,no,100\nS,8,,train,no,100\n"
                                        "S,8,4,train,no,\nS,8,4,train,no,90\n");
  const LoadedSuite loaded =
      load_suite({.path = folder.file("small.yaml", kSuite), .table = other});
  REQUIRE(loaded.runs.size() == 4);
  CHECK(loaded.runs[0].refusal == "map.model.base: its values do not have 'XL'");
  CHECK(loaded.runs[1].refusal == "map.training.global_batch: column 'batch' is blank");
  CHECK(loaded.runs[2].refusal == "measured: column 'time_ms' is blank");
  CHECK(loaded.runs[3].refusal.empty());
  CHECK(loaded.runs[3].label == "S on 8");
}

TEST_CASE("a time that cannot be read is none, not zero") {
  const TemporaryFolder folder;
  folder.file("small.csv", kTable);
  const std::string other = folder.file("other.csv",
                                        "size,gpus,batch,kind,full,time_ms\n"
                                        "S,8,4,train,no,90\nS,8,,train,no,80\nS,8,4,train,no,0\n"
                                        "S,8,4,train,no,-5\nS,8,4,train,no,\n"
                                        "S,8,4,train,no,n/a\nS,8,4,train,no,70\n");
  const auto runs = load_suite({.path = folder.file("small.yaml", kSuite), .table = other}).runs;
  REQUIRE(runs.size() == 7);
  CHECK(runs[1].measured->seconds() == doctest::Approx(0.08));  // refused for another reason
  for (const std::size_t i : {2U, 3U, 4U, 5U}) {
    CAPTURE(runs[i].refusal);
    CHECK_FALSE(runs[i].measured);
    CHECK(runs[i].refusal.starts_with("measured: "));
  }
}

TEST_CASE("every committed suite loads, and names its source") {
  std::size_t rows = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "validate/suites")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    const LoadedSuite loaded = load_suite({.path = entry.path().string()});
    CHECK(loaded.suite.name == entry.path().stem().string());
    CHECK_FALSE(loaded.suite.assumptions.empty());
    CHECK_FALSE(loaded.suite.groups.empty());
    rows += loaded.runs.size();
  }
  CHECK(rows >= 298);
}

TEST_CASE("a record of errors reads back as it was written") {
  const TemporaryFolder folder;
  const ErrorRecord record{{{"mpt", "", "", 139, 0.0331, 0.02, 0.069, 0.251, -0.016},
                            {"mpt", "model", "MPT-7b", 17, 0.01, 0.01, 0.02, 0.03, 0, 3}}};
  const ErrorRecord read = load_error_record(folder.file("record.yaml", to_yaml(record)));
  REQUIRE(read.groups.size() == 2);
  CHECK(read.groups[0].mean == 0.0331);
  CHECK(read.groups[0].name.empty());
  CHECK(read.groups[1].value == "MPT-7b");
  CHECK(read.groups[1].rows == 17);
  CHECK_FALSE(read.groups[0].not_fitting);
  CHECK(read.groups[1].not_fitting == 3);
}

TEST_CASE(
    "a record with errors that none can be, or with one for the same rows twice, is refused") {
  const TemporaryFolder folder;
  const auto error_of_record = [&](const ErrorRecord& record) -> std::string {
    const std::string path = folder.file("record.yaml", to_yaml(record));
    try {
      load_error_record(path);
    } catch (const UserError& error) {
      const std::string text = error.what();
      return text.substr(path.size(), text.find('\n') - path.size());
    }
    return "none";
  };
  const RecordedErrors sound{"mpt", "model", "MPT-7b", 17, 0.01, 0.01, 0.02, 0.03, 0};
  RecordedErrors one = sound;
  CHECK(error_of_record({{one}}) == "none");
  one.rows = 0;
  CHECK(error_of_record({{one}}).find("groups[0].rows: '0' must be") != std::string::npos);
  one = sound;
  one.mean = 1e308;
  CHECK(error_of_record({{one}}).find("groups[0].mean: '1e+308") != std::string::npos);
  one.mean = -1;
  CHECK(error_of_record({{one}}).find("groups[0].mean: '-1") != std::string::npos);
  one = sound;
  one.bias = -0.2;
  CHECK(error_of_record({{one}}) == "none");
  CHECK(error_of_record({{sound, one}}).find("groups[1]: groups[0] is of the same rows, on line") !=
        std::string::npos);
  const RecordedChoices choices{
      .suite = "mpt", .jobs = 2, .ways = 5, .pairs = {1, 2, 3, 4}, .in_order = {1, 2, 3, 4}};
  CHECK(error_of_record({{sound}, {choices}}) == "none");
  CHECK(error_of_record({{sound}, {choices, choices}})
            .find("choices[1]: choices[0] is of the same rows") != std::string::npos);
}

TEST_CASE("a list may be mapped, as a text in brackets") {
  const TemporaryFolder folder;
  folder.file("small.csv", kTable);
  const std::string text = kSuite;
  const std::string map = "map:\n";
  const std::string with_list =
      text.substr(0, text.find(map) + map.size()) +
      "  faults.slow_gpus: '\"[{ranks: [0], factor: \" // gpus / 8 // \"}]\"'\n" +
      text.substr(text.find(map) + map.size());
  const LoadedSuite loaded = load_suite({.path = folder.file("small.yaml", with_list)});
  REQUIRE(loaded.runs.size() == 2);
  const Scenario scenario = scenario_of(loaded.suite, loaded.runs[1]);
  REQUIRE(scenario.faults.slow_gpus.size() == 1);
  CHECK(scenario.faults.slow_gpus[0].factor == 2);
}

TEST_CASE("a record of runs reads back as it was written, to a thousandth of a per cent") {
  const TemporaryFolder folder;
  const RunTraits traits{
      "a100", "ampere", "dense transformer", "large layers", "16-bit", "one node", "fused", 8};
  const std::vector<RecordedRuns> runs{
      {"mpt", traits, "", {-0.123456, 0.01}, "mosaicml", {-0.2, 0.01}},
      {"mpt", traits, "\"slow\", or late", {0.5}}};
  const std::string text = to_csv(runs);
  CHECK(
      text.ends_with("\nmpt,mosaicml,a100,ampere,dense transformer,large layers,16-bit,one node,"
                     "fused,8,,-12.346 1.000,-20.000 1.000\n"
                     "mpt,mpt,a100,ampere,dense transformer,large layers,16-bit,one node,fused,8,"
                     "\"\"\"slow\"\", or late\",50.000,\n"));
  const auto read = load_recorded_runs(folder.file("runs.csv", text));
  REQUIRE(read.size() == 2);
  CHECK(read[0].traits == traits);
  CHECK(read[0].errors == std::vector<double>{-0.12346, 0.01});
  CHECK(read[0].unseen_errors() == std::vector<double>{-0.2, 0.01});
  CHECK(read[1].unseen_errors() == read[1].errors);
  CHECK(read[0].source() == "mosaicml");
  CHECK(read[1].known == runs[1].known);
  CHECK(to_csv(read) == text);
}

TEST_CASE("a record of runs without errors, with infinite ones or a kind twice is refused") {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& rows, const std::string& text) {
    const std::string path = folder.file("runs.csv", to_csv({}) + rows);
    CHECK_THROWS_WITH_AS(load_recorded_runs(path), doctest::Contains(text.c_str()), UserError);
  };
  // Three lines of comments and one of columns stand before the rows.
  refuse("s,p,a100,,,,,,,8,,,\n", "runs.csv:5:19: errors: there are none");
  for (const std::string number : {"nan", "inf", "1.5 -inf"})
    refuse("s,p,a100,,,,,,,8,," + number + ",\n",
           "runs.csv:5:19: errors: '" + number + "' are not numbers");
  refuse("s,p,a100,,,,,,,8,,1,\ns,p,h100,,,,,,,8,,2,\ns,p,a100,,,,,,,8,,3,\n",
         "runs.csv:7:1: the suite has this kind of runs in a row above");
  refuse("s,p,a100,amper,,,,,,8,,1,\n",
         "runs.csv:5:10: generation: unknown 'amper', did you mean 'ampere'?");
  refuse("s,p,a100,ampere,,,16bit,,,8,,1,\n",
         "runs.csv:5:19: precision: unknown '16bit', did you mean '16-bit'?");
  refuse("s,p,a100,,,,,slow,,8,,1,\n", "runs.csv:5:14: fabric: unknown 'slow'");
  refuse("s,p,a100,,,,,,,many,,1,\n", "runs.csv:5:16: gpus: 'many' is no number of GPUs");
  refuse("s,p,a100,,,,,,,8,,1 2,3\n", "runs.csv:5:23: unseen: as many as there are errors");
  const auto read = load_recorded_runs(folder.file(
      "runs.csv",
      to_csv({}) + "s,p,a100,,,,,,,8,,1,\ns,p,a100,,,,,,,8,late,2,\nr,p,a100,,,,,,,8,,3,\n"));
  CHECK(read.size() == 3);  // known ones, and those of another suite, are kinds of their own
}

TEST_CASE("the record of runs of a library is that of its first folder that has one") {
  const TemporaryFolder folder;
  fs::create_directories(fs::path(folder.file("x", "")).parent_path() / "validate");
  const std::string path =
      folder.file("validate/recorded_runs.csv", to_csv({{"mine", {}, "", {0}}}));
  const std::string root = fs::path(path).parent_path().parent_path().string();
  CHECK(runs_beside((fs::path(root) / "validate/recorded.yaml").string()) == path);
  CHECK_FALSE(recorded_runs_of({{root + "/validate"}}));
  CHECK(recorded_runs_of({{root + "/validate", root, source_folder()}})->front().suite == "mine");
  folder.file("validate/recorded_runs.csv", "suite,errors\na,1\n");
  CHECK_THROWS_AS(recorded_runs_of({{root}}), UserError);
  std::string wrong = to_csv({{"mine", {}, "", {0}}});
  wrong.replace(wrong.find("0.000"), 5, "0.0x1");
  folder.file("validate/recorded_runs.csv", wrong);
  CHECK_THROWS_WITH_AS(recorded_runs_of({{root}}), doctest::Contains("'0.0x1' are not numbers"),
                       UserError);
}

TEST_CASE("the committed record of runs has the rows and means of the committed record") {
  const fs::path folder = fs::path(source_folder()) / "validate";
  const auto runs = recorded_runs_of({{source_folder()}});
  REQUIRE(runs);
  for (const RecordedErrors& group :
       load_error_record((folder / "recorded.yaml").string()).groups) {
    if (!group.name.empty()) continue;
    CAPTURE(group.suite);
    int rows = 0;
    double sum = 0;
    for (const RecordedRuns& run : *runs) {
      if (run.suite != group.suite) continue;
      rows += static_cast<int>(run.errors.size());
      for (const double error : run.errors) sum += std::abs(error);
    }
    CHECK(rows == group.rows);
    CHECK(sum / rows == doctest::Approx(group.mean).epsilon(1e-3));
  }
}
