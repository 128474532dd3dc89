// What all importers share: the kind is recognised, options that an importer does not have are
// refused, assumptions are values, and paths are written as the scenario has to say them.
#include <filesystem>
#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/core/source.hpp"
#include "sim/import/import_options.hpp"
#include "sim/import/kind_of_file.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

const char* const kConfig = R"({"train_batch_size": 64, "bf16": {"enabled": true}})";

std::string written(const ImportOptions& options) {
  std::ostringstream out, notes;
  REQUIRE(import(options, out, notes) == ExitCode::ok);
  return out.str();
}

std::string error_of(const ImportOptions& options) {
  std::ostringstream out, notes;
  try {
    import(options, out, notes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a file shows its kind; one of no kind is refused with the kinds there are") {
  const TemporaryFolder folder;
  CHECK(written({.file = folder.file("ds.json", kConfig), .model = "llama2-7b"})
            .find("framework: deepspeed") != std::string::npos);
  const std::string error = error_of({.file = folder.file("note.txt", "hello\n")});
  CHECK(error.find("no file that stepsim recognises") != std::string::npos);
  CHECK(error.find("deepspeed") != std::string::npos);
  CHECK(error_of({.file = ""}).find("name a file") != std::string::npos);
}

TEST_CASE("a file that another command reads is sent there") {
  const TemporaryFolder folder;
  const std::string log =
      folder.file("two.log", "#  size count type redop root time algbw busbw\n");
  CHECK(error_of({.file = log}).find("a log of nccl-tests: stepsim calibrate fit " + log) !=
        std::string::npos);
  const std::string neox =
      folder.file("20B.yml", "pipe_parallel_size: 4\nmodel_parallel_size: 2\n");
  CHECK(error_of({.file = neox}).find("a file of GPT-NeoX: it is not read here") !=
        std::string::npos);
  CHECK(way_out_for_scenario("ds.json", kConfig) ==
        "ds.json: this is no scenario; `import` reads it as a DeepSpeed configuration (JSON): "
        "stepsim "
        "import ds.json -o scenario.yaml");
  CHECK(
      way_out_for_scenario(
          "config.json", R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2})") ==
      "config.json: this is no scenario but a model's config: stepsim show model config.json, and "
      "in "
      "a scenario model: config.json");
  CHECK(way_out_for_scenario("train.sh", "#!/bin/bash\n").find("a launch script") !=
        std::string::npos);
}

TEST_CASE("no scenario is taken for another program's file") {
  int seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(source_folder()) + "/scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string path = entry.path().string();
    CAPTURE(path);
    CHECK(way_out_for_scenario(path, read_source(path)->text).empty());
    ++seen;
  }
  CHECK(seen > 10);
}

TEST_CASE("an option that the importer does not have is refused") {
  const TemporaryFolder folder;
  CHECK(error_of({.file = folder.file("ds.json", kConfig), .given = {"--gpu"}}) ==
        "--gpu: import deepspeed has no such option");
}

TEST_CASE("what was assumed is a list of values in JSON") {
  const TemporaryFolder folder;
  const auto json =
      nlohmann::json::parse(written({.file = folder.file("ds.json", kConfig), .format = "json"}));
  CHECK(json["scenario"].get<std::string>().find("framework: deepspeed") != std::string::npos);
  bool has_model = false;
  for (const auto& assumed : json["assumed"]) {
    CHECK(!assumed["value"].get<std::string>().empty());
    has_model = has_model || assumed["state"] == "--model NAME";
  }
  CHECK(has_model);
}

TEST_CASE("a cluster by its path is the one that is simulated, wherever the scenario lies") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "out");
  const std::string cluster =
      folder.file("box.yaml",
                  "name: box\nbase: dgx-a100-80\ngpus_per_node: 4\nnodes: 2\n"
                  "inter_node: {nics_per_node: 4}\n");
  const std::string target = folder.file("out/s.yaml");
  written({.file = folder.file("ds.json", kConfig),
           .model = "llama2-7b",
           .cluster = cluster,
           .nodes = 2,
           .output = target});
  const Scenario scenario = load_scenario(target);
  CHECK(scenario.cluster.gpu.name == "a100-80");
  CHECK(scenario.cluster.gpus() == 8);
}
