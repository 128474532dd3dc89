// Importers of a node: a cluster file from what `nvidia-smi topo -m` or NCCL say of it.
#include <cctype>
#include <iostream>
#include <iterator>
#include <string_view>

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

/// A row of the table: a GPU, and an X where it meets itself, behind a tag or a bar.
bool is_matrix(const std::string&, const std::string& text) {
  const std::string plain = without_escapes(text);
  constexpr std::string_view kName = "GPU0", kBetween = " \t|";
  for (std::size_t at = plain.find(kName); at != std::string::npos; at = plain.find(kName, at)) {
    at += kName.size();
    const std::size_t next = plain.find_first_not_of(kBetween, at);
    const std::size_t after = next == std::string::npos ? next : next + 1;
    const bool is_alone =
        after == plain.size() ||
        (after != std::string::npos && std::isspace(static_cast<unsigned char>(plain[after])) != 0);
    if (next != std::string::npos && next > at && plain[next] == 'X' && is_alone) return true;
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
