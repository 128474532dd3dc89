// Files that other commands read, by what stands in them.
#include "sim/import/kind_of_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/core/shell_word.hpp"
#include "sim/import/importer.hpp"

namespace stepsim {
namespace {

struct Kind {
  std::array<std::string_view, 2> marks;  ///< both stand in such a file
  std::string_view name;
  std::string (*command)(const std::string& path);
};

std::string fits(const std::string& path) { return "stepsim calibrate fit " + shell_word(path); }
std::string shows(const std::string& path) {
  return fmt::format("stepsim show model {}, and in a scenario model: {}", shell_word(path), path);
}

std::string explains(const std::string& path) { return "stepsim explain " + shell_word(path); }

std::string not_read(const std::string&) {
  return "it is not read here; write a scenario, or give Megatron-LM's options: stepsim import "
         "megatron -- OPTIONS";
}
std::string written_by_bridge(const std::string&) {
  return "it is not the whole run, which Megatron-Bridge writes as run_config.yaml";
}

constexpr std::array kKinds{
    Kind{{"algbw", "busbw"}, "a log of nccl-tests", fits},
    Kind{{"\"stepsim.measurements/", "\"points\""}, "a file of measurements", fits},
    Kind{{"\"traceEvents\"", "{\"stepsim\":"}, "a trace of stepsim", explains},
    Kind{{"\"traceEvents\"", "\"ph\""}, "a recording of PyTorch's profiler", explains},
    Kind{{"\"hidden_size\"", "\"num_hidden_layers\""}, "a model's config", shows},
    Kind{{"pipe_parallel_size", "model_parallel_size"}, "a file of GPT-NeoX", not_read},
    Kind{{"pipe-parallel-size", "model-parallel-size"}, "a file of GPT-NeoX", not_read},
    Kind{{"max_seq_len", "device_train_microbatch_size"}, "a file of LLM Foundry", not_read},
    Kind{{"train_iters", "\ndist:"}, "settings for a recipe of Megatron-Bridge", written_by_bridge},
};

/// "a log of nccl-tests: stepsim calibrate fit my.log"
std::string of_other_command(const std::string& path, const std::string& text) {
  for (const Kind& kind : kKinds) {
    if (std::all_of(kind.marks.begin(), kind.marks.end(),
                    [&](std::string_view mark) { return text.find(mark) != std::string::npos; }))
      return fmt::format("{}: {}", kind.name, kind.command(path));
  }
  return "";
}

/// The list of importers names what each makes, or its file.
std::string file_of(const Importer& importer) {
  return importer.takes_words ? "a launch script" : std::string(importer.description);
}

}  // namespace

std::string way_out_for_import(const std::string& path, const std::string& text) {
  const std::string other = of_other_command(path, text);
  return other.empty() ? "" : fmt::format("{}: this is no file of `import` but {}", path, other);
}

std::string way_out_for_scenario(const std::string& path, const std::string& text) {
  for (const Importer* importer : Registry<Importer>::all()) {
    if (importer->recognises(path, text))
      return fmt::format(
          "{}: this is no scenario; `import` reads it as {}: stepsim import {} -o {}", path,
          file_of(*importer), shell_word(path),
          importer->scenario != nullptr ? "scenario.yaml" : "cluster.yaml");
  }
  const std::string other = of_other_command(path, text);
  return other.empty() ? "" : fmt::format("{}: this is no scenario but {}", path, other);
}

}  // namespace stepsim
