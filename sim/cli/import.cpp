// The options of `stepsim import`.
#include <algorithm>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "sim/cli/options.hpp"
#include "sim/cli/words.hpp"
#include "sim/import/importer.hpp"

namespace stepsim {
namespace {

/// What a configuration may leave to whoever starts it.
void add_batch_options(CLI::App& app, ImportOptions& kept,
                       const std::vector<std::string_view>& wanted) {
  const auto add = [&](std::string_view name, int& value, const char* text) {
    if (std::ranges::find(wanted, name) != wanted.end())
      app.add_option(std::string(name), value, text)->check(CLI::Range(1, 1'000'000'000));
  };
  if (std::ranges::find(wanted, "--precision") != wanted.end())
    app.add_option("--precision", kept.precision, "of matrix products")
        ->check(one_of_these({"fp32", "tf32", "fp16", "bf16", "fp8"}));
  add("--micro-batch", kept.micro_batch, "sequences of one pass of one rank");
  add("--accumulation", kept.accumulation, "passes of a step");
  add("--global-batch", kept.global_batch, "sequences of a step");
  if (std::ranges::find(wanted, "--training-arguments") != wanted.end())
    app.add_option("--training-arguments", kept.training_arguments,
                   "Hugging Face's TrainingArguments, a JSON or YAML file");
}

/// All options that some importer has.
void add_import_options(CLI::App& app, ImportOptions& kept,
                        const std::vector<std::string_view>& wanted) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(wanted, name) != wanted.end();
  };
  if (has("--cluster"))
    app.add_option("--cluster", kept.cluster, "a name in scenarios/clusters/, or a path");
  if (has("--nodes"))
    app.add_option("--nodes", kept.nodes, "default: as stated, or as many as the split needs")
        ->check(CLI::Range(1, 1'000'000));
  if (has("--model")) app.add_option("--model", kept.model, "a name in models/, or a path");
  if (has("--sequence-length")) app.add_option("--sequence-length", kept.sequence_length, "tokens");
  add_batch_options(app, kept, wanted);
  if (has("--env"))
    app.add_option("--env", kept.environment, "NAME=VALUE, which a script asks for; repeatable")
        ->allow_extra_args(false);
  if (has("--gpu")) app.add_option("--gpu", kept.gpu, "a name in calib/gpus/");
  if (has("--format")) add_format(app, kept.format, {"text", "json"});
  add_output(app, "-o", kept.output, "file to write instead of standard output");
  add_force(app, kept.force);
}

/// Options of the importer's that stood on the command line; --force is of all.
std::set<std::string> given_options(const CLI::App& app) {
  std::set<std::string> given;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name(false, true);
    const bool is_of_all = name == "--force";
    if (option->count() > 0 && name.starts_with("--") && !is_of_all)
      given.insert(name.substr(0, name.find(',')));
  }
  return given;
}

std::vector<std::string_view> options_of_all() {
  std::vector<std::string_view> options;
  for (const Importer* importer : Registry<Importer>::all())
    options.insert(options.end(), importer->options.begin(), importer->options.end());
  return options;
}

}  // namespace

void add_import(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand("import", "write a scenario from another program's files");
  command->require_subcommand(0, 1);
  command->allow_extras();  // which of them a file's kind takes, the file shows
  // Before its commands, which take it over.
  command->footer(
      "Exit codes: 0 written, 2 bad input, 4 a file cannot be read or written.\n\n"
      "Behind a launch script stand its own arguments, then options of Megatron-LM.\n"
      "Words behind -- are none of stepsim's.\n\n"
      "Examples: stepsim import train.sh -o imported.yaml\n"
      "          stepsim import train.sh 8B 4096 --vocab-size 128256\n"
      "          stepsim import deepspeed ds_config.json --model llama2-7b --nodes 2\n"
      "          stepsim import topo topo.txt --gpu a100-80 -o box.yaml");
  command->add_option("file", kept->file, "what kind it is, the file shows");
  add_import_options(*command, *kept, options_of_all());
  for (const Importer* importer : Registry<Importer>::all()) {
    CLI::App* from =
        command->add_subcommand(std::string(importer->name), std::string(importer->description));
    from->footer(
        fmt::format("Exit codes: 0 written, 2 bad input, 4 a file cannot be read or written.\n\n"
                    "Example: stepsim import {} {} -o imported.yaml",
                    importer->name, importer->takes_words ? "--file train.sh" : "FILE"));
    if (importer->takes_words) {
      from->allow_extras();
      from->add_option("--file", kept->file, "a script that holds the command line");
    } else {
      from->add_option("file", kept->file, "-: standard input")->required();
    }
    add_import_options(*from, *kept, importer->options);
    from->callback([kept, from] {
      kept->from = from->get_name();
      kept->arguments = from->remaining();
    });
  }
  command->callback([kept, command, &chosen] {
    // Also where a kind follows: what stands before it is meant, too.
    kept->given = given_options(*command);
    std::vector<std::string> words = command->remaining();
    words.insert(words.end(), kept->arguments.begin(), kept->arguments.end());
    for (std::string& word : words) word = without_mark(word);
    kept->file = without_mark(kept->file);
    if (kept->file == "--" && !words.empty()) {  // before the file, and no word of its own
      kept->file = words.front();
      words.erase(words.begin());
    }
    kept->arguments = std::move(words);
    chosen = [kept] { return stepsim::import(*kept, std::cout, std::cerr); };
  });
}

}  // namespace stepsim
