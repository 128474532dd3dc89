// Writes a comparison as Markdown, for a pull request.
#include <fmt/format.h>

#include "sim/report/comparison/comparison_report.hpp"

namespace stepsim {
namespace {

/// The text for a cell: characters that would end the cell or begin markup are escaped.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("|*_`<[\\").find(c) != std::string_view::npos) result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

std::string table_of(const TextTable& table) {
  if (table.rows.empty()) return "";
  std::vector<std::string> head{table.title}, rule{"---"};
  for (const std::string& column : table.columns) {
    head.push_back(column);
    rule.emplace_back("---:");
  }
  std::string text = "\n" + line_of(head) + line_of(rule);
  for (const TextRow& row : table.rows) {
    std::vector<std::string> cells{row.is_sum ? "**" + row.title + "**" : escaped(row.title)};
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::string cell = escaped(row.cells[i]);
      cells.push_back(row.best == static_cast<int>(i) ? "**" + cell + "**" : cell);
    }
    text += line_of(cells);
  }
  return text;
}

const char* mark_of(Remark::Tone tone) {
  return tone == Remark::Tone::bad ? "❌ " : tone == Remark::Tone::good ? "✅ " : "";
}

}  // namespace

std::string comparison_markdown(const Comparison& c) {
  std::string text;
  for (const Remark& remark : remarks_on(c)) {
    const bool of_run = remark.about.size() == 1;
    text += fmt::format("- {}{}{}\n", mark_of(remark.tone),
                        of_run ? "" : "**" + remark.about + "** ", escaped(remark.text));
  }
  text += "\n";
  for (std::size_t i = 0; i < c.runs.size(); ++i)
    text += fmt::format("- {}: {}\n", c.runs[i].label, escaped(origin_of(c, i)));
  return text + table_of(input_table(c)) + table_of(answer_table(c)) + table_of(cause_table(c));
}

}  // namespace stepsim
