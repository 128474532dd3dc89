// Reading what `nvidia-smi topo -m` prints: a table of devices against devices.
//
// Cells: NV# joins two GPUs by # NVLinks; else how far apart two devices are on PCIe: PIX below one
// switch, PXB below several, PHB at one host bridge, NODE at one NUMA node, SYS across those
// (the legend that the program prints); C2C joins a GPU to the CPU of its module. A second legend has the names of NICs: "NIC0: mlx5_0".
#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/escapes.hpp"
#include "sim/import/importer.hpp"
#include "sim/import/node/device_table.hpp"

namespace stepsim {
namespace {

constexpr std::pair<std::string_view, Distance> kDistances[] = {
    {"C2C", kSameSwitch}, {"PIX", kSameSwitch}, {"PXB", kSwitches},
    {"PHB", kHostBridge}, {"NODE", kNumaNode},  {"SYS", kSystem}};

struct Word {
  std::string text;
  std::size_t line = 0;  ///< from 0
  int column = 1;
};
using Words = std::vector<Word>;

/// The words between blanks, and between the bars of a table in Markdown.
Words words_of(const std::string& text, std::size_t line) {
  constexpr std::string_view kBetween = " \t\r|";
  Words words;
  for (std::size_t i = text.find_first_not_of(kBetween); i != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, i), text.size());
    words.push_back({text.substr(i, end - i), line, static_cast<int>(i) + 1});
    i = text.find_first_not_of(kBetween, end);
  }
  return words;
}

/// NVLinks of "NV18"; 0 of other words.
int nvlinks_in(std::string_view word) {
  if (!word.starts_with("NV") || word.size() < 3 || word.size() > 5) return 0;
  int count = 0;
  const auto* end = word.data() + word.size();
  return std::from_chars(word.data() + 2, end, count).ptr == end ? count : 0;
}

/// The cells that a word is made of, where columns ran together: "NODENODE", "NV18PIX". A word that
/// is not made of cells alone stays as it is.
Words cells_of(const Word& word) {
  Words cells;
  for (std::string_view rest = word.text; !rest.empty();) {
    std::size_t size = 0;
    for (const auto& [name, distance] : kDistances)
      if (rest.starts_with(name)) size = name.size();
    if (rest.starts_with("NV")) {
      const std::size_t end = std::min(rest.find_first_not_of("0123456789", 2), rest.size());
      size = nvlinks_in(rest.substr(0, end)) > 0 ? end : 0;
    }
    if (size == 0) return {word};
    const auto before = static_cast<int>(word.text.size() - rest.size());
    cells.push_back({std::string(rest.substr(0, size)), word.line, word.column + before});
    rest.remove_prefix(size);
  }
  return cells;
}

/// The place of a device's name, which a launcher's tag may stand before ("[1,0]<stdout>:GPU0"); the
/// end where the words have it not.
Words::const_iterator find_name(const Words& words, std::string_view name) {
  constexpr std::string_view kTagEnds = ":>]";
  return std::find_if(words.begin(), words.end(), [&](const Word& word) {
    if (!word.text.ends_with(name)) return false;
    const std::size_t tag = word.text.size() - name.size();
    return tag == 0 || kTagEnds.find(word.text[tag - 1]) != std::string_view::npos;
  });
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// A table in any text: behind the tags of launchers, in Markdown, and with lines that a terminal
/// wrapped between two cells.
class TopoMatrix {
 public:
  TopoMatrix(const std::string& text, std::string file) : file_(std::move(file)) {
    std::istringstream lines(without_escapes(text));
    for (std::string line; std::getline(lines, line);) {
      words_.push_back(words_of(line, lines_.size()));
      lines_.push_back(std::move(line));
    }
  }

  DeviceTable read() {
    std::size_t line = read_header();
    for (; line < lines_.size() && rows_ < names_.size(); ++line) {
      Words row = words_[line];
      if (row.empty()) continue;
      while (is_wrapped_ && line + 1 < lines_.size() && !ends_row(line + 1)) {
        ++line;
        row.insert(row.end(), words_[line].begin(), words_[line].end());
      }
      read_row(row);
    }
    if (found_.empty() && rows_ < names_.size())
      complain({"", header_, 1}, fmt::format("{} devices, but {} rows", names_.size(), rows_));
    if (!found_.empty()) throw UserError(std::move(found_));
    for (; line < lines_.size(); ++line) read_legend(words_[line]);
    return std::move(table_);
  }

 private:
  void complain(const Word& at, std::string message) {
    found_.push_back({.file = file_,
                      .line = static_cast<int>(at.line) + 1,
                      .column = at.column,
                      .message = std::move(message),
                      .source_line = at.line < lines_.size() ? lines_[at.line] : ""});
  }

  /// Whether a row of that device begins in the line: behind the name are cells.
  bool begins_row(std::size_t line, std::string_view name) const {
    const auto found = find_name(words_[line], name);
    if (found == words_[line].end() || found + 1 == words_[line].end()) return false;
    const std::string& next = (found + 1)->text;
    return next == "X" || nvlinks_in(next) > 0 ||
           std::any_of(std::begin(kDistances), std::end(kDistances),
                       [&](const auto& known) { return known.first == next; });
  }

  bool ends_row(std::size_t line) const {
    return words_[line].empty() ||
           (rows_ + 1 < names_.size() && begins_row(line, names_[rows_ + 1]));
  }

  bool is_header(std::size_t line) const {
    const auto found = find_name(words_[line], "GPU0");
    return found != words_[line].end() && !begins_row(line, "GPU0") &&
           (found + 1 == words_[line].end() || (found + 1)->text.size() > 1);
  }

  /// Returns the first line of the rows.
  std::size_t read_header() {
    while (header_ < lines_.size() && !is_header(header_)) {
      is_pcie_alone_ = is_pcie_alone_ || lines_[header_].find("topo -mp") != std::string::npos;
      ++header_;
    }
    if (header_ == lines_.size()) {
      complain({"", 0, 1}, "no line begins with GPU0: is this what `nvidia-smi topo -m` prints?");
      throw UserError(std::move(found_));
    }
    Words columns(find_name(words_[header_], "GPU0"), words_[header_].cend());
    columns.front().text = "GPU0";
    std::size_t line = header_ + 1;
    std::size_t first = line;
    while (first < lines_.size() && !begins_row(first, "GPU0")) ++first;
    for (; first < lines_.size() && line < first; ++line) {
      is_wrapped_ = is_wrapped_ || !words_[line].empty();
      columns.insert(columns.end(), words_[line].begin(), words_[line].end());
    }
    const auto cpu = std::find_if(columns.begin(), columns.end(),
                                  [](const Word& word) { return word.text == "CPU"; });
    for (auto column = columns.begin(); column != cpu; ++column) {
      names_.push_back(column->text);
      table_.add({column->text, column->text.starts_with("GPU"), ""});
    }
    for (auto column = cpu; column != columns.end(); ++column)
      has_numa_ = has_numa_ || column->text == "NUMA";
    table_.set_pcie_alone(is_pcie_alone_);
    return line;
  }

  void read_row(const Words& words) {
    const std::size_t row = rows_++;
    const auto name = find_name(words, names_[row]);
    if (name == words.end())
      return complain(words.front(), fmt::format("'{}' stands where the row of {} should",
                                                 words.front().text, names_[row]));
    Words cells;
    for (auto word = name + 1; word != words.end(); ++word) {
      const Words parts = cells.size() < names_.size() ? cells_of(*word) : Words{*word};
      cells.insert(cells.end(), parts.begin(), parts.end());
    }
    if (cells.size() < names_.size())
      return complain(*name, fmt::format("{} cells for {} devices", cells.size(), names_.size()));
    for (std::size_t column = 0; column < names_.size(); ++column)
      read_cell(cells[column], row, column);
    read_affinity(cells, row);
  }

  /// CPU affinity, then NUMA affinity (newer drivers), then the NUMA node that the GPU's memory is,
  /// a number beside a Grace CPU alone. Without the second, the CPUs tell nodes apart.
  void read_affinity(const Words& cells, std::size_t row) {
    const std::size_t affinity = names_.size() + (has_numa_ ? 1 : 0);
    if (cells.size() > affinity) table_.set_numa(row, cells[affinity].text);
    const bool is_beside_cpu = cells.size() == names_.size() + 3 && is_number(cells.back().text);
    if (is_beside_cpu) table_.set_beside_cpu();
  }

  void read_cell(const Word& word, std::size_t row, std::size_t column) {
    if (row == column) {
      if (word.text != "X") complain(word, fmt::format("'{}' is not X", word.text));
      return;
    }
    for (const auto& [name, distance] : kDistances) {
      if (word.text != name) continue;
      return table_.set_distance(row, column, distance);
    }
    if (const int links = nvlinks_in(word.text); links > 0) {
      table_.set_nvlinks(row, column, links);
      table_.set_distance(row, column, kSystem);
    } else {
      complain(word,
               fmt::format("'{}' is none of X, NV#, C2C, PIX, PXB, PHB, NODE, SYS", word.text));
    }
  }

  /// "  NIC0: mlx5_0"
  void read_legend(const Words& words) {
    if (words.size() < 2 || !words[words.size() - 2].text.ends_with(':')) return;
    const std::string& before = words[words.size() - 2].text;
    const std::string name = before.substr(0, before.size() - 1);
    const auto found = std::find(names_.begin(), names_.end(), name);
    const auto device = static_cast<std::size_t>(found - names_.begin());
    if (found != names_.end() && !table_.devices()[device].is_gpu)
      table_.rename(device, words.back().text);
  }

  std::string file_;
  std::vector<std::string> lines_, names_;
  std::vector<Words> words_;  ///< of each line
  DeviceTable table_;
  std::size_t header_ = 0, rows_ = 0;
  bool has_numa_ = false, is_wrapped_ = false, is_pcie_alone_ = false;
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
        names.push_back(fmt::format("{}+{}", table.devices()[pair.first].name, pair.second_number));
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
  refuse_large_import(file, text);
  DeviceTable table = read_device_table(text, file);
  std::vector<Assumption> assumptions = one_nic_a_card(table);
  ObservedNode node =
      table.node(table.is_pcie_alone() ? "`nvidia-smi topo -mp`" : "`nvidia-smi topo -m`");
  node.assumptions = std::move(assumptions);
  return node;
}

}  // namespace stepsim
