// stepsim import: a scenario from a command line or configuration of another program.
#include "sim/import/import.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/plan/load.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/text/file.hpp"

namespace stepsim {

void Draft::map(const std::string& key, const std::vector<std::string>& entries) {
  if (!entries.empty()) line(fmt::format("{}: {{{}}}", key, fmt::join(entries, ", ")));
}

std::string Draft::text() const {
  std::string text = "# " + title_ + "\n";
  if (!notes_.empty()) text += "# Not simulated as stated:\n";
  for (const std::string& note : notes_) text += "#   " + note + "\n";
  return text + body_;
}

Machine machine_for(const std::string& cluster, int nodes, int gpus_per_node, int needed) {
  Machine machine{.cluster = load_cluster(cluster, library_for("scenario.yaml"))};
  machine.gpus_per_node = gpus_per_node > 0 ? gpus_per_node : machine.cluster.gpus_per_node;
  const int least = (needed + machine.gpus_per_node - 1) / machine.gpus_per_node;
  machine.nodes = nodes > 0 ? nodes : std::max(least, 1);
  return machine;
}

std::string cluster_text(const Machine& machine) {
  std::vector<std::string> entries{"base: " + machine.cluster.name,
                                   fmt::format("nodes: {}", machine.nodes)};
  if (machine.gpus_per_node != machine.cluster.gpus_per_node) {
    entries.push_back(fmt::format("gpus_per_node: {}", machine.gpus_per_node));
    const bool fewer = machine.cluster.inter_node &&
                       machine.cluster.inter_node->nics_per_node > machine.gpus_per_node;
    if (fewer)
      entries.push_back(fmt::format("inter_node: {{nics_per_node: {}}}", machine.gpus_per_node));
  }
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::string fused_attention(const GpuProfile& gpu) {
  std::string best = "unfused";
  FlopsPerSecond rate{0};
  for (const AttentionProfile& attention : gpu.attention) {
    if (attention.plateau <= rate) continue;
    best = attention.kernel;
    rate = attention.plateau;
  }
  return best;
}

std::string size_text(double bytes) { return write_scalar(Bytes{bytes}); }

namespace {

/// What is wrong with the scenario that was made is no mistake in a file that the user has: said
/// so, with its line.
std::vector<Diagnostic> of_the_made(const UserError& error, const std::string& made,
                                    const std::string& from) {
  std::vector<Diagnostic> mistakes = error.diagnostics();
  for (Diagnostic& mistake : mistakes) {
    if (mistake.file != made) continue;
    mistake.file.clear();
    mistake.line = 0;
    mistake.message = fmt::format("the scenario made from {}: {}", from, mistake.message);
  }
  return mistakes;
}

}  // namespace

ExitCode import(const ImportOptions& options, std::ostream& out, std::ostream& notes) {
  std::error_code ignored;
  if (std::filesystem::equivalent(options.file, options.output, ignored))
    throw UserError(fmt::format("-o {} would replace the file that is read", options.output));
  const Draft draft =
      options.from == "megatron" ? import_megatron(options) : import_deepspeed(options);
  const std::string text = draft.text();
  const std::string file = options.output.empty() ? "scenario.yaml" : options.output;
  try {
    parse_scenario(text, file, library_for(file), {}, known_names());
  } catch (const UserError& error) {
    throw UserError(
        of_the_made(error, file, options.file.empty() ? "the command line" : options.file));
  }
  for (const std::string& note : draft.notes())
    notes << "not simulated as stated: " << note << '\n';
  if (options.output.empty()) {
    out << text;
  } else {
    save_file(options.output, text);
    out << options.output << ": written; stepsim run " << options.output << '\n';
  }
  return ExitCode::ok;
}

}  // namespace stepsim
