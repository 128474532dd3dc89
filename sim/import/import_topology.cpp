// Importers of a node: a cluster file from what `nvidia-smi topo -m` or NCCL say of it.
#include <iostream>
#include <iterator>
#include <sstream>

#include "sim/core/escapes.hpp"
#include "sim/core/source.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/node/observed_node.hpp"

namespace stepsim {
namespace {

std::string text_of(const std::string& file) {
  if (file != "-") return read_source(file, kLargestImport)->text;
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

Draft cluster(const ObservedNode& node, const ImportOptions& options) {
  Draft draft = cluster_draft(node, options.gpu);
  check_cluster(draft.text(), node.gpus, options.output.empty() ? "cluster.yaml" : options.output);
  return draft;
}

/// A row of the table: a GPU, and an X where it meets itself.
bool is_matrix(const std::string&, const std::string& text) {
  std::istringstream lines(without_escapes(text));
  for (std::string line; std::getline(lines, line);) {
    std::string first, second;
    std::istringstream(line) >> first >> second;
    if (first == "GPU0" && second == "X") return true;
  }
  return false;
}

bool is_nccl_topology(const std::string&, const std::string& text) {
  return text.find("<system") != std::string::npos && text.find("<cpu") != std::string::npos;
}

const Registered<Importer> matrix{
    {.name = "topo",
     .description = "a cluster from what `nvidia-smi topo -m` prints",
     .options = {"--gpu", "--format"},
     .recognises = is_matrix,
     .cluster = [](const ImportOptions& options) {
       return cluster(read_topo_matrix(text_of(options.file), options.file), options);
     }}};

const Registered<Importer> nccl_topology{
    {.name = "nccl-topo",
     .description = "a cluster from NCCL's topology (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE)",
     .options = {"--gpu", "--format"},
     .recognises = is_nccl_topology,
     .cluster = [](const ImportOptions& options) {
       return cluster(read_nccl_topology(text_of(options.file), options.file), options);
     }}};

}  // namespace
}  // namespace stepsim
