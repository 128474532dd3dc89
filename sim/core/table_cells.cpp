// Cuts text into lines and lines into cells, at separators outside quotes.
#include "sim/core/table_cells.hpp"

#include <algorithm>

#include "sim/core/trim.hpp"

namespace stepsim {

std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  std::size_t from = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  for (int number = 1; from < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, end - from);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find_first_not_of(" \t") != std::string::npos) lines.push_back({number, line});
    from = end + 1;
  }
  return lines;
}

std::vector<Cell> cells_of(const std::string& line, char separator) {
  std::vector<Cell> cells;
  std::size_t at = 0;
  do {
    while (at < line.size() && line[at] == ' ') ++at;
    Cell cell{"", static_cast<int>(at) + 1};
    bool quoted_now = at < line.size() && line[at] == '"';
    if (quoted_now) ++at;
    for (; at < line.size() && (quoted_now || line[at] != separator); ++at) {
      if (quoted_now && line[at] == '"') {
        if (at + 1 == line.size() || line[at + 1] != '"') {
          quoted_now = false;
          continue;
        }
        ++at;
      }
      cell.text += line[at];
    }
    cell.text = trimmed(cell.text, " \t");
    cell.is_open = quoted_now;
    cells.push_back(cell);
  } while (at++ < line.size());
  return cells;
}

char separator_of(const std::string& head) {
  if (head.find(',') != std::string::npos) return ',';
  return head.find('\t') != std::string::npos ? '\t' : ';';
}

}  // namespace stepsim
