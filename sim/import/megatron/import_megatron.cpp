// Megatron-LM's command line, here or in a launch script, as a kind of file that is imported.
#include <fmt/format.h>

#include "sim/core/problems.hpp"
#include "sim/core/source.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/megatron/megatron.hpp"
#include "sim/import/script/script_import.hpp"

namespace stepsim {
namespace {

/// Half a script, or something else that holds no word, would read as one without options.
std::shared_ptr<const Source> source_of_script(const std::string& path) {
  auto source = read_source(path);
  Problems problems;
  const std::size_t null = source->text.find('\0');
  if (source->text.size() > kLargestFile)
    problems.add({source, 0, 0}, "",
                 fmt::format("the file is larger than {} MiB: this is no launch script",
                             kLargestFile >> 20));
  else if (null != std::string::npos)
    problems.add(place_at(source, null), "", "byte 0x00 is not text: this is no launch script");
  problems.throw_if_any();
  return source;
}

Draft import_megatron(const ImportOptions& options) {
  const auto draft_of = [&](const MegatronLaunch& launch, const Words& more) {
    MegatronSource source{.title = "Megatron-LM's command line, read by stepsim import megatron.",
                          .words = launch.words,
                          .program = launch.program,
                          .gpus = launch.gpus};
    for (const std::string& word : more) {
      if (word != "--") source.words.push_back({word, {}});
    }
    return draft_of_megatron(source, options);
  };
  if (options.file.empty()) return draft_of({}, options.arguments);
  const Words more = split_arguments(options.arguments).second;
  return draft_of_script(source_of_script(options.file), options,
                         [&](const MegatronLaunch& launch) { return draft_of(launch, more); });
}

bool is_script(const std::string& path, const std::string& text) {
  return path.ends_with(".sh") || path.ends_with(".slurm") || path.ends_with(".sbatch") ||
         text.starts_with("#!");
}

const Registered<Importer> registered{
    {.name = "megatron",
     .description = "Megatron-LM's command line, here or in a script (--file)",
     .options = {"--cluster", "--nodes", "--env", "--format"},
     .recognises = is_script,
     .scenario = import_megatron,
     .takes_words = true}};

}  // namespace
}  // namespace stepsim
