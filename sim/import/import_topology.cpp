// stepsim import topo, nccl-topo: a cluster file from what other programs say of a node.
#include <filesystem>
#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "sim/core/source.hpp"
#include "sim/import/import_options.hpp"
#include "sim/import/node/observed_node.hpp"
#include "sim/text/file.hpp"

namespace stepsim {
namespace {

std::string text_of(const std::string& file) {
  if (file != "-") return read_source(file)->text;
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

}  // namespace

ExitCode import_topology(const ImportOptions& options, std::ostream& out) {
  std::error_code ignored;
  if (std::filesystem::equivalent(options.file, options.output, ignored))
    throw UserError(fmt::format("-o {} would replace the file that is read", options.output));
  const bool is_matrix = options.from == "topo";
  const ObservedNode node =
      (is_matrix ? read_topo_matrix : read_nccl_topology)(text_of(options.file), options.file);
  const std::string text = cluster_text(node, options.gpu);
  const std::string file = options.output.empty() ? "cluster.yaml" : options.output;
  check_cluster(text, node.gpus, file);
  if (options.output.empty()) {
    out << text;
  } else {
    save_file(options.output, text);
    out << options.output << ": written; stepsim run SCENARIO --set cluster=" << options.output
        << '\n';
  }
  return ExitCode::ok;
}

}  // namespace stepsim
