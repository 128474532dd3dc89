// stepsim import: what another program's configuration says, as a scenario or a cluster.
//
// The text of a scenario is read and checked before it is written: an import is a scenario.
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/core/shell_word.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/machine.hpp"
#include "sim/plan/load.hpp"
#include "sim/scenario/describe/default_attention.hpp"
#include "sim/scenario/load.hpp"
#include "sim/text/file.hpp"
#include "sim/text/seal.hpp"

namespace stepsim {
namespace {

constexpr const char* kCommand = "stepsim import";

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

/// Where the kernel of attention that a program would take has not what the model asks for (sinks,
/// a cap of scores), the program multiplies by itself: Hugging Face's modules have eager attention,
/// Megatron-LM's products of its own.
Draft with_possible_attention(Draft draft, const ImportOptions& options,
                              const std::string& products) {
  const std::string text = draft.text(), key = "attention: ";
  const std::size_t at = text.find(", " + key);
  if (at == std::string::npos) return draft;
  const std::size_t begin = at + 2 + key.size();
  const std::string kernel = text.substr(begin, text.find_first_of(",}", begin) - begin);
  const std::string file = options.output.empty() ? "scenario.yaml" : options.output;
  try {
    const Scenario scenario = parse_scenario(
        text, file, library_for(file), {{"training.attention", kUnfusedAttention}}, known_names());
    const auto* model = std::get_if<Transformer>(&scenario.model.shape);
    if (model == nullptr || can_compute_attention(kernel, *model)) return draft;
    // Transformer Engine takes cuDNN where flash attention has not what is asked for
    // (transformer_engine/pytorch/attention/dot_product_attention/utils.py, softmax_type).
    const bool is_engine = scenario.training.transformer_impl != TransformerImpl::local;
    if (is_engine && has_attention(scenario.cluster.gpu, "cudnn") &&
        can_compute_attention("cudnn", *model)) {
      draft.replace(", " + key + kernel, ", " + key + "cudnn");
      draft.assume({"attention", "cudnn",
                    "Transformer Engine takes it where " + kernel +
                        " has not what the model does to its scores",
                    "--set training.attention=NAME"});
      return draft;
    }
    draft.replace(", " + key + kernel, ", " + key + products);
    draft.note("attention by " + kernel,
               products + ", as that kernel has not what the model does to its scores");
  } catch (const UserError&) {  // is written when the draft is checked
  }
  return draft;
}

void check(const std::string& text, const ImportOptions& options) {
  const std::string file = options.output.empty() ? "scenario.yaml" : options.output;
  try {
    parse_scenario(text, file, library_for(file), {}, known_names());
  } catch (const UserError& error) {
    throw UserError(
        of_the_made(error, file, options.file.empty() ? "the command line" : options.file));
  }
}

std::string json_text(const char* what, const Draft& draft) {
  nlohmann::ordered_json assumed = nlohmann::ordered_json::array();
  for (const Assumption& a : draft.assumptions())
    assumed.push_back({{"what", a.what}, {"value", a.value}, {"why", a.why}, {"state", a.state}});
  const nlohmann::ordered_json json = {
      {what, draft.text()}, {"assumed", assumed}, {"not_simulated", draft.notes()}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

ExitCode write(const Draft& draft, bool is_cluster, const ImportOptions& options, std::ostream& out,
               std::ostream& notes) {
  if (!is_cluster) check(draft.text(), options);
  for (const Assumption& assumption : draft.assumptions())
    notes << "assumed: " << to_string(assumption) << '\n';
  for (const std::string& note : draft.notes())
    notes << "not simulated as stated: " << note << '\n';
  const std::string text = options.format == "json"
                               ? json_text(is_cluster ? "cluster" : "scenario", draft)
                               : draft.text();
  if (options.output.empty()) {
    out << text;
  } else {
    const std::vector<std::string> members{is_cluster ? "cluster" : "scenario", "assumed",
                                           "not_simulated"};
    save_file({"-o", options.output, sealed_by(kCommand, members), options.force},
              sealed(text, kCommand));
    out << shown_path(options.output) << ": written";
    if (options.format != "json")
      out << (is_cluster ? "; stepsim run SCENARIO --set cluster=" : "; stepsim run ")
          << shell_word(options.output);
    out << '\n';
  }
  return ExitCode::ok;
}

}  // namespace

ExitCode import(const ImportOptions& options, std::ostream& out, std::ostream& notes) {
  const Importer& importer = importer_for(options);
  const bool is_cluster = importer.cluster != nullptr;
  if (is_cluster) return write(importer.cluster(options), true, options, out, notes);
  return write(imported_draft(importer, options), false, options, out, notes);
}

Draft imported_draft(const Importer& importer, const ImportOptions& options) {
  const bool is_megatron = importer.name == std::string_view("megatron");
  return with_possible_attention(importer.scenario(options), options,
                                 is_megatron ? kUnfusedAttention : kEagerAttention);
}

}  // namespace stepsim
