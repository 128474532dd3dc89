// Reading what `nvidia-smi topo -m` prints: a table of devices against devices.
//
// Cells: NV# joins two GPUs by # NVLinks; else how far apart two devices are on PCIe: PIX below one
// switch, PXB below several, PHB at one host bridge, NODE at one NUMA node, SYS across those
// (the legend that the program prints); C2C joins a GPU to the CPU of its module. A second legend has the names of NICs: "NIC0: mlx5_0".
#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/escapes.hpp"
#include "sim/import/node/device_table.hpp"

namespace stepsim {
namespace {

constexpr std::pair<std::string_view, Distance> kDistances[] = {
    {"C2C", kSameSwitch}, {"PIX", kSameSwitch}, {"PXB", kSwitches},
    {"PHB", kHostBridge}, {"NODE", kNumaNode},  {"SYS", kSystem}};

struct Word {
  std::string text;
  int column = 1;
};

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

class TopoMatrix {
 public:
  TopoMatrix(const std::string& text, std::string file) : file_(std::move(file)) {
    std::istringstream lines(without_escapes(text));
    for (std::string line; std::getline(lines, line);) lines_.push_back(line);
  }

  DeviceTable read() {
    read_header();
    std::size_t line = header_ + 1;
    for (; line < lines_.size() && rows_ < names_.size(); ++line) read_row(line);
    if (found_.empty() && rows_ < names_.size())
      complain(header_, 1, fmt::format("{} devices, but {} rows", names_.size(), rows_));
    if (!found_.empty()) throw UserError(std::move(found_));
    for (; line < lines_.size(); ++line) read_legend(line);
    return std::move(table_);
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
    has_numa_ = lines_[header_].find("NUMA Affinity") != std::string::npos;
    for (const Word& word : words_of(lines_[header_])) {
      if (word.text == "CPU") break;
      names_.push_back(word.text);
      table_.add({word.text, word.text.starts_with("GPU"), ""});
    }
  }

  void read_row(std::size_t line) {
    const std::vector<Word> words = words_of(lines_[line]);
    if (words.empty()) return;
    const std::size_t row = rows_++;
    if (words.front().text != names_[row])
      return complain(
          line, words.front().column,
          fmt::format("'{}' stands where the row of {} should", words.front().text, names_[row]));
    if (words.size() <= names_.size())
      return complain(line, words.front().column,
                      fmt::format("{} cells for {} devices", words.size() - 1, names_.size()));
    for (std::size_t column = 0; column < names_.size(); ++column)
      read_cell(line, words[column + 1], row, column);
    // CPU affinity, then NUMA affinity (newer drivers). Without that, the CPUs tell nodes apart.
    const std::size_t affinity = names_.size() + (has_numa_ ? 2 : 1);
    if (words.size() > affinity) table_.set_numa(row, words[affinity].text);
  }

  void read_cell(std::size_t line, const Word& word, std::size_t row, std::size_t column) {
    if (row == column) {
      if (word.text != "X") complain(line, word.column, fmt::format("'{}' is not X", word.text));
      return;
    }
    for (const auto& [name, distance] : kDistances) {
      if (word.text != name) continue;
      return table_.set_distance(row, column, distance);
    }
    const std::string count = word.text.starts_with("NV") ? word.text.substr(2) : "";
    const bool is_count = !count.empty() && count.size() < 4 &&
                          count.find_first_not_of("0123456789") == std::string::npos;
    if (is_count) {
      table_.set_nvlinks(row, column, std::stoi(count));
      table_.set_distance(row, column, kSystem);
    } else {
      complain(line, word.column,
               fmt::format("'{}' is none of X, NV#, C2C, PIX, PXB, PHB, NODE, SYS", word.text));
    }
  }

  /// "  NIC0: mlx5_0"
  void read_legend(std::size_t line) {
    const std::vector<Word> words = words_of(lines_[line]);
    if (words.size() != 2 || !words[0].text.ends_with(':')) return;
    const std::string name = words[0].text.substr(0, words[0].text.size() - 1);
    const auto found = std::ranges::find(names_, name);
    const auto device = static_cast<std::size_t>(found - names_.begin());
    if (found != names_.end() && !table_.devices()[device].is_gpu)
      table_.rename(device, words[1].text);
  }

  std::string file_;
  std::vector<std::string> lines_, names_;
  DeviceTable table_;
  std::size_t header_ = 0, rows_ = 0;
  bool has_numa_ = false;
  std::vector<Diagnostic> found_;
};

/// Two devices that share a switch with each other alone are one card with two ports as often as
/// two cards. They count as one where no GPU is as near, so that no NIC is counted that is not
/// there: the table does not tell.
std::vector<Assumption> one_nic_a_card(DeviceTable& table) {
  std::vector<Assumption> assumptions;
  std::vector<DeviceTable::Neighbours> pairs = table.neighbours();
  const auto join = [&](bool as_one) {
    std::vector<std::string> names;
    for (const auto& pair : pairs) {
      if (pair.are_nearest == as_one)
        names.push_back(table.devices()[pair.first].name + "+" +
                        table.devices()[pair.second].name.substr(std::size("mlx5_") - 1));
    }
    if (names.empty()) return;
    assumptions.push_back(
        {"NICs", fmt::format("{} ({} each)", fmt::join(names, ", "), as_one ? "one" : "two"),
         "PIX to each other: they may be two ports of one card, or two cards",
         "inter_node.nics_per_node and bandwidth in the file"});
  };
  join(true);
  join(false);
  for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair)
    if (pair->are_nearest) table.remove(pair->second);
  return assumptions;
}

}  // namespace

DeviceTable read_device_table(const std::string& text, const std::string& file) {
  return TopoMatrix(text, file).read();
}

ObservedNode read_topo_matrix(const std::string& text, const std::string& file) {
  DeviceTable table = read_device_table(text, file);
  std::vector<Assumption> assumptions = one_nic_a_card(table);
  ObservedNode node = table.node("`nvidia-smi topo -m`");
  node.assumptions = std::move(assumptions);
  return node;
}

}  // namespace stepsim
