// Importers of a node: a cluster file from what `nvidia-smi topo -m` or NCCL say of it.
#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "sim/core/source.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/node/observed_node.hpp"
#include "sim/text/file.hpp"

namespace stepsim {
namespace {

std::string text_of(const std::string& file) {
  if (file != "-") return read_source(file)->text;
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

ExitCode write(const ObservedNode& node, const ImportOptions& options, std::ostream& out) {
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

/// The heading of the table: GPUs side by side.
bool is_matrix(const std::string&, const std::string& text) {
  return text.find("GPU0\t") != std::string::npos && text.find(" X ") != std::string::npos;
}

bool is_nccl_topology(const std::string&, const std::string& text) {
  return text.find("<system") != std::string::npos && text.find("<cpu") != std::string::npos;
}

const Registered<Importer> matrix{
    {.name = "topo",
     .description = "a cluster from what `nvidia-smi topo -m` prints",
     .options = {"--gpu"},
     .recognises = is_matrix,
     .write = [](const ImportOptions& options, std::ostream& out) {
       return write(read_topo_matrix(text_of(options.file), options.file), options, out);
     }}};

const Registered<Importer> nccl_topology{
    {.name = "nccl-topo",
     .description = "a cluster from NCCL's topology (NCCL_TOPO_DUMP_FILE)",
     .options = {"--gpu"},
     .recognises = is_nccl_topology,
     .write = [](const ImportOptions& options, std::ostream& out) {
       return write(read_nccl_topology(text_of(options.file), options.file), options, out);
     }}};

}  // namespace
}  // namespace stepsim
