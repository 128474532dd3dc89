// The options of `stepsim import`.
#include <iostream>
#include <memory>

#include "sim/cli/options.hpp"
#include "sim/import/import_options.hpp"

namespace stepsim {
namespace {

void add_topology(CLI::App& import, const std::shared_ptr<ImportOptions>& kept, Action& chosen) {
  CLI::App* matrix =
      import.add_subcommand("topo", "a cluster from what `nvidia-smi topo -m` prints");
  CLI::App* xml =
      import.add_subcommand("nccl-topo", "a cluster from NCCL's topology (NCCL_TOPO_DUMP_FILE)");
  for (CLI::App* from : {matrix, xml}) {
    from->add_option("file", kept->file, "-: standard input")->required();
    from->add_option("--gpu", kept->gpu, "a name in calib/gpus/");
    from->add_option("-o", kept->output, "file to write instead of standard output");
    from->callback([kept, &chosen, from] {
      kept->from = from->get_name();
      chosen = [kept] { return stepsim::import_topology(*kept, std::cout); };
    });
  }
}

}  // namespace

void add_import(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<ImportOptions>();
  CLI::App* import = app.add_subcommand("import", "write a scenario from another program's");
  import->require_subcommand(1);
  // Before its commands, which take it over.
  import->footer(
      "Exit codes: 0 written, 2 bad input, 4 a file cannot be read or written.\n\n"
      "Examples: stepsim import megatron --file train.sh -o imported.yaml\n"
      "          stepsim import deepspeed ds_config.json --model llama2-7b --nodes 2\n"
      "          stepsim import topo topo.txt --gpu a100-80 -o box.yaml\n"
      "          stepsim import nccl-topo topo.xml -o box.yaml");
  CLI::App* megatron = import->add_subcommand(
      "megatron", "Megatron-LM's command line, here or in a script (--file)");
  megatron->allow_extras();
  megatron->add_option("--file", kept->file, "a script that holds the command line");
  CLI::App* deepspeed = import->add_subcommand("deepspeed", "a DeepSpeed configuration");
  deepspeed->add_option("config", kept->file, "the JSON file")->required();
  deepspeed->add_option("--model", kept->model, "a name in models/ or a path");
  deepspeed->add_option("--sequence-length", kept->sequence_length, "tokens");
  add_topology(*import, kept, chosen);
  for (CLI::App* from : {megatron, deepspeed}) {
    from->add_option("--cluster", kept->cluster, "a name in scenarios/clusters/");
    from->add_option("--nodes", kept->nodes, "default: as many as the split needs")
        ->check(CLI::Range(1, 1'000'000));
    from->add_option("-o", kept->output, "file to write instead of standard output");
    from->callback([kept, &chosen, from] {
      kept->from = from->get_name();
      kept->arguments = from->remaining();
      chosen = [kept] { return stepsim::import(*kept, std::cout, std::cerr); };
    });
  }
}

}  // namespace stepsim
