// Reading what `nvidia-smi topo -m` prints: a table of devices against devices.
//
// Cells: NV# joins two GPUs by # NVLinks; else how far apart two devices are on PCIe: PIX below one
// switch, PXB below several, PHB at one host bridge, NODE at one NUMA node, SYS across those
// (the legend that the program prints).
#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>

#include "sim/command/seen_node.hpp"
#include "sim/core/error.hpp"

namespace stepsim {
namespace {

constexpr std::pair<std::string_view, int> kDistances[] = {
    {"PIX", 1}, {"PXB", 2}, {"PHB", 3}, {"NODE", 4}, {"SYS", 5}};
constexpr int kNode = 4, kSystem = 5;

struct Word {
  std::string text;
  int column = 1;
};

/// The text without the codes with which the program underlines its first line.
std::string without_escapes(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    while (i < text.size() && text[i] != 'm') ++i;
  }
  return plain;
}

std::vector<Word> words_of(const std::string& line) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < line.size();) {
    if (std::isspace(static_cast<unsigned char>(line[i])) != 0) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < line.size() && std::isspace(static_cast<unsigned char>(line[i])) == 0) ++i;
    words.push_back({line.substr(begin, i - begin), static_cast<int>(begin) + 1});
  }
  return words;
}

bool is_gpu(const std::string& device) { return device.starts_with("GPU"); }

/// Devices that are as near as a level or nearer are one.
class Groups {
 public:
  explicit Groups(std::size_t count) : of_(count) {
    for (std::size_t i = 0; i < count; ++i) of_[i] = i;
  }
  void join(std::size_t a, std::size_t b) {
    const std::size_t from = of_[a], to = of_[b];
    std::replace(of_.begin(), of_.end(), std::max(from, to), std::min(from, to));
  }
  std::size_t of(std::size_t device) const { return of_[device]; }

 private:
  std::vector<std::size_t> of_;
};

class TopoMatrix {
 public:
  TopoMatrix(const std::string& text, std::string file) : file_(std::move(file)) {
    std::istringstream lines(without_escapes(text));
    for (std::string line; std::getline(lines, line);) lines_.push_back(line);
  }

  SeenNode read() {
    read_header();
    for (std::size_t i = header_ + 1; i < lines_.size() && rows_ < devices_.size(); ++i)
      read_row(i);
    if (found_.empty() && rows_ < devices_.size())
      complain(header_, 1, fmt::format("{} devices, but {} rows", devices_.size(), rows_));
    if (!found_.empty()) throw UserError(std::move(found_));
    return node();
  }

 private:
  void complain(std::size_t line, int column, std::string message) {
    found_.push_back({.file = file_,
                      .line = static_cast<int>(line) + 1,
                      .column = column,
                      .message = std::move(message),
                      .source_line = line < lines_.size() ? lines_[line] : ""});
  }

  void read_header() {
    while (header_ < lines_.size() && lines_[header_].find("GPU0") == std::string::npos) ++header_;
    if (header_ == lines_.size()) {
      complain(0, 1, "no line begins with GPU0: is this what `nvidia-smi topo -m` prints?");
      throw UserError(std::move(found_));
    }
    for (const Word& word : words_of(lines_[header_])) {
      if (word.text == "CPU") break;
      devices_.push_back(word.text);
    }
    nvlinks_.assign(devices_.size(), std::vector<int>(devices_.size(), 0));
    distances_.assign(devices_.size(), std::vector<int>(devices_.size(), kSystem));
    numa_.assign(devices_.size(), "");
  }

  void read_row(std::size_t line) {
    const std::vector<Word> words = words_of(lines_[line]);
    if (words.empty()) return;
    const std::size_t row = rows_++;
    if (words.front().text != devices_[row])
      return complain(
          line, words.front().column,
          fmt::format("'{}' stands where the row of {} should", words.front().text, devices_[row]));
    if (words.size() <= devices_.size())
      return complain(line, words.front().column,
                      fmt::format("{} cells for {} devices", words.size() - 1, devices_.size()));
    for (std::size_t column = 0; column < devices_.size(); ++column)
      read_cell(line, words[column + 1], row, column);
    // CPU affinity, then NUMA affinity (newer drivers).
    if (words.size() > devices_.size() + 2) numa_[row] = words[devices_.size() + 2].text;
  }

  void read_cell(std::size_t line, const Word& word, std::size_t row, std::size_t column) {
    if (row == column) {
      if (word.text != "X") complain(line, word.column, fmt::format("'{}' is not X", word.text));
      return;
    }
    for (const auto& [name, distance] : kDistances) {
      if (word.text != name) continue;
      distances_[row][column] = distance;
      return;
    }
    const std::string count = word.text.starts_with("NV") ? word.text.substr(2) : "";
    const bool is_count = !count.empty() && count.size() < 4 &&
                          count.find_first_not_of("0123456789") == std::string::npos;
    if (is_count) {
      nvlinks_[row][column] = std::stoi(count);
    } else {
      complain(line, word.column,
               fmt::format("'{}' is none of X, NV#, PIX, PXB, PHB, NODE, SYS", word.text));
    }
  }

  SeenNode node() {
    SeenNode node{.source = "`nvidia-smi topo -m`"};
    std::vector<std::size_t> gpus, nics;
    for (std::size_t i = 0; i < devices_.size(); ++i)
      (is_gpu(devices_[i]) ? gpus : nics).push_back(i);
    node.gpus = static_cast<int>(gpus.size());
    for (const std::size_t nic : nics) node.nics.push_back(devices_[nic]);
    for (const std::size_t gpu : gpus) {
      auto& links = node.nvlinks.emplace_back();
      for (const std::size_t other : gpus) links.push_back(nvlinks_[gpu][other]);
      auto& apart = node.apart.emplace_back();
      for (const std::size_t nic : nics) apart.push_back(distances_[gpu][nic]);
    }
    add_tree(node);
    return node;
  }

  std::string end_of(std::size_t device) const {
    const auto alike = [&](const std::string& other) {
      return is_gpu(other) == is_gpu(devices_[device]);
    };
    const auto end = devices_.begin() + static_cast<std::ptrdiff_t>(device);
    return fmt::format("{} {}", is_gpu(devices_[device]) ? "gpu" : "nic",
                       std::count_if(devices_.begin(), end, alike));
  }

  bool are_within(std::size_t a, std::size_t b, int level) const {
    if (distances_[a][b] <= level && nvlinks_[a][b] == 0) return true;
    // Between GPUs with NVLinks the table does not say; their NUMA nodes do.
    return level >= kNode && !numa_[a].empty() && numa_[a] != "N/A" && numa_[a] == numa_[b];
  }

  /// A vertex for each group of devices that several meet in; in the end one for each NUMA node.
  void add_tree(SeenNode& node) const {
    std::vector<std::string> tops;
    for (std::size_t i = 0; i < devices_.size(); ++i) tops.push_back(end_of(i));
    Groups groups(devices_.size());
    constexpr std::string_view kTitles[] = {"switch", "bridge", "root", "cpu"};
    for (int level = 1; level <= kNode; ++level) {
      for (std::size_t a = 0; a < devices_.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
          if (are_within(a, b, level)) groups.join(a, b);
        }
      }
      int count = 0;
      for (std::size_t first = 0; first < devices_.size(); ++first) {
        if (groups.of(first) != first) continue;
        std::vector<std::string> below;
        for (std::size_t i = first; i < devices_.size(); ++i) {
          const bool is_new = std::find(below.begin(), below.end(), tops[i]) == below.end();
          if (groups.of(i) == first && is_new) below.push_back(tops[i]);
        }
        if (below.size() < 2 && level < kNode) continue;
        const std::string top = fmt::format("{} {}", kTitles[level - 1], count++);
        node.switches.push_back(top);
        for (const std::string& end : below) node.pcie.push_back({end, top, {}, {}});
        for (std::size_t i = first; i < devices_.size(); ++i) {
          if (groups.of(i) == first) tops[i] = top;
        }
      }
      if (level == kNode && count > 1) {
        // SPR_QPI_BW in NVIDIA/nccl v2.30.7 src/graph/topo.h.
        const std::string all = fmt::format("cpu 0..{}", count - 1);
        node.pcie.push_back({all, all, 22_GBps, {}});
        node.pcie_notes.push_back("Assumed: 22 GB/s between CPUs.");
      }
    }
    node.pcie_notes.push_back("Assumed: PCIe as the GPU's slot has it.");
  }

  std::string file_;
  std::vector<std::string> lines_, devices_, numa_;
  std::vector<std::vector<int>> nvlinks_, distances_;
  std::size_t header_ = 0, rows_ = 0;
  std::vector<Diagnostic> found_;
};

}  // namespace

SeenNode read_topo_matrix(const std::string& text, const std::string& file) {
  return TopoMatrix(text, file).read();
}

}  // namespace stepsim
