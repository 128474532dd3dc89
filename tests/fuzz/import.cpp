// Configurations of other programs, and options of Megatron-LM: what `stepsim import` makes of them.
//
// The first line names the importer, and may state a model and a sequence length; the rest is the file, or for
// megatron a word of the command line a line.
#include <algorithm>
#include <sstream>

#include "sim/import/import_options.hpp"
#include "sim/import/importer.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool has(const Importer& importer, std::string_view option) {
  return std::ranges::find(importer.options, option) != importer.options.end();
}

}  // namespace

void read_text(const std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::istringstream head(text.substr(0, end));
  ImportOptions options;
  std::string model;
  int length = 0;
  head >> options.from;
  const Importer* importer = Registry<Importer>::find(options.from);
  if (importer == nullptr || options.from == "trace") return;  // a trace is for recording.cpp
  if (head >> model && has(*importer, "--model")) options.model = model;
  if (head >> length && length > 0 && has(*importer, "--sequence-length"))
    options.sequence_length = length;
  if (has(*importer, "--cluster")) options.cluster = "pod";
  const std::string rest = text.substr(std::min(end + 1, text.size()));
  if (importer->takes_words)
    options.arguments = lines_of(rest);
  else
    options.file = file_of("imported", rest);
  std::ostringstream out, notes;
  import(options, out, notes);
}

}  // namespace stepsim
