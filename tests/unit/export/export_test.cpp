// Exports of the scenarios here, what is refused, and what is said beside the options.
#include <filesystem>
#include <set>
#include <sstream>

#include "sim/export/round_trip.hpp"
#include "sim/import/importer.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/unit/export/exported.hpp"

using namespace stepsim;

namespace {

/// The scenario that the command `stepsim import` makes of the file.
Scenario imported_file(const Exporter& exporter, const Scenario& scenario) {
  const Exported written = exporter.write(scenario);
  const TemporaryFolder folder;
  ImportOptions options = written.import;
  options.text = nullptr;
  options.arguments.clear();
  const std::string name = options.file.empty() ? "exported.sh" : options.file;
  options.file = folder.file(name, written.text);
  std::ostringstream out, notes;
  REQUIRE(import(options, out, notes) == ExitCode::ok);
  return parse_scenario(out.str(), "again.yaml", Library{{source_folder()}}, {}, known_names());
}

/// Whether some line names the key, or its section and the key's rest.
bool is_named(const Export& result, const std::string& key) {
  const std::size_t dot = key.find('.');
  for (const std::string& line : result.not_said)
    if (line.starts_with(key + ": ") || (line.starts_with(key.substr(0, dot) + ": ") &&
                                         line.find(key.substr(dot + 1)) != std::string::npos))
      return true;
  return false;
}

}  // namespace

TEST_CASE("files of all scenarios that a framework can run are read as the same scenario") {
  std::set<std::string> written;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(source_folder()) + "/scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    const Scenario scenario = load(ScenarioArgument{entry.path().string(), {}});
    for (const Exporter* exporter : Registry<Exporter>::all()) {
      INFO(exporter->name << " " << scenario.name);
      try {
        const Export result = export_of(*exporter, scenario);
        written.insert(std::string(exporter->name) + " " + scenario.name);
        for (const KeyDifference& each :
             differences(scenario, imported_file(*exporter, scenario))) {
          INFO(each.key << ": " << each.here << ", " << each.there);
          CHECK(is_named(result, each.key));
        }
      } catch (const UserError& error) {
        CHECK(std::string(error.what()).size() > 20);
      }
    }
  }
  CHECK(written.contains("megatron gpt3-175b-1024xa100"));
  CHECK(written.contains("megatron llama3-70b-64xh100"));
  CHECK(written.contains("deepspeed mpt-7b-zero3-64xa100"));
  CHECK(written.contains("accelerate mpt-7b-zero3-64xa100"));
  CHECK(written.size() > 20);
}

TEST_CASE("what the framework does not have is refused with the key and what it has") {
  const auto of = [](const std::string& to, const std::string& framework,
                     const std::vector<std::string>& settings) {
    return refusal(to, scenario_of(framework, "llama3-8b", settings));
  };
  CHECK(of("megatron", "pytorch-fsdp2",
           {"parallelism.pipeline={stages: 2, chunks: 2, schedule: zb-v}",
            "parallelism.data={sharding: zero1}"})
            .find("parallelism.pipeline.schedule: zb-v: megatron has 1f1b or interleaved") !=
        std::string::npos);
  CHECK(of("deepspeed", "megatron", {"parallelism.pipeline={stages: 2}"})
            .find("parallelism.pipeline.stages: 2: no key of the file says it") !=
        std::string::npos);
  CHECK(of("megatron", "deepspeed", {"training.optimizer=lamb"}) ==
        "training.optimizer: lamb: megatron has adam, momentum, muon, sgd and soap");
  CHECK(of("torchtitan", "megatron", {"training.recompute=selective"})
            .find("training.recompute.modules: [core_attention]: torchtitan's options cannot say "
                  "it; with them it is [every_second_matmul]") != std::string::npos);
  CHECK(refusal("torchtitan",
                scenario_of("pytorch-fsdp2", "gpt3-175b", {"training.sequence_length=2048"}))
            .find("torchtitan has no model of that shape") != std::string::npos);
}

TEST_CASE("what has no option is said beside it") {
  const Export result = exported(
      "megatron", scenario_of("megatron", "llama3-8b",
                              {"host.launch=20 us", "faults.slow_gpus=[{ranks: [3], factor: 0.5}]",
                               "training.attention=flash3", "training.loss_metrics=1",
                               "training.vocabulary_multiple=128"}));
  const std::set<std::string> lines(result.not_said.begin(), result.not_said.end());
  CHECK(lines.contains("training.loss_metrics: 1 (0 there)"));
  CHECK(lines.contains("host: launch"));
  CHECK(lost(result) == "training.loss_metrics: 1 (0 there)\n");
  CHECK(result.import == "stepsim import megatron --file FILE --cluster dgx-h100");
}

TEST_CASE("keys without effect do not count") {
  const Scenario plain = scenario_of("megatron", "llama3-8b", {});
  Scenario other = plain;
  other.parallelism.context.kind = ContextKind::all_gather;
  other.parallelism.data.copy_out = true;
  other.training.recompute.layers = 3;
  CHECK(differences(plain, other).empty());
  other.training.recompute.kind = Recompute::full;
  CHECK(differences(plain, other).size() == 2);
}
