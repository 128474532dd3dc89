// Writes a comparison for a terminal.
#include <algorithm>

#include "sim/report/comparison/comparison_report.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kNarrowest = 80, kWidest = 120;
constexpr int kGap = 2;     ///< between columns
constexpr int kIndent = 2;  ///< indent of rows below the title of their table

class ComparisonPage : Page {
 public:
  ComparisonPage(const Comparison& comparison, Screen screen)
      : Page(screen, kNarrowest, kWidest), c_(comparison) {}

  std::string text() {
    for (std::size_t i = 0; i < c_.runs.size(); ++i)
      paragraph(c_.runs[i].label, origin_of(c_, i), Paint::bold, 3);
    line();
    remarks();
    table(input_table(c_));
    table(answer_table(c_));
    table(cause_table(c_));
    out_.pop_back();  // takes off the empty line behind the last table
    return out_;
  }

 private:
  void remarks() {
    for (const Remark& remark : remarks_on(c_)) {
      const Paint paint = remark.tone == Remark::Tone::good  ? Paint::green
                          : remark.tone == Remark::Tone::bad ? Paint::red
                                                             : Paint::bold;
      const bool is_run = remark.about.size() == 1;
      paragraph(is_run ? "Difference" : remark.about, remark.text, paint);
    }
    line();
  }

  /// Writes a table: as many columns beside each other as fit, the others below; the first column
  /// is repeated.
  void table(const TextTable& all) {
    if (all.rows.empty()) return;
    const std::vector<int> widths = widths_of(all);
    const int title = title_width(all);
    for (std::size_t from = 1; from < widths.size();) {
      std::vector<std::size_t> shown{0};
      int width = title + kGap + widths[0];
      for (; from < widths.size(); ++from) {
        width += kGap + widths[from];
        if (shown.size() > 1 && width > screen_.width) break;
        shown.push_back(from);
      }
      part_of_table(all, shown, widths, title);
    }
  }

  void part_of_table(const TextTable& all, const std::vector<std::size_t>& shown,
                     const std::vector<int>& widths, int title) {
    std::string head = pad_right(all.title, title);
    for (const std::size_t i : shown) head += pad_left(all.columns[i], kGap + widths[i]);
    line(painted(screen_, Paint::bold, head));
    for (const TextRow& row : all.rows) {
      if (is_long(row, shown, widths)) {
        long_row(row, all.columns, shown);
      } else {
        line(cells_of(row, shown, widths, title));
      }
    }
    line();
  }

  std::string cells_of(const TextRow& row, const std::vector<std::size_t>& shown,
                       const std::vector<int>& widths, int title) const {
    std::string text = pad_right(std::string(kIndent, ' ') + row.title, title);
    for (const std::size_t i : shown) {
      const std::string cell = pad_left(mark(row, i), kGap + widths[i]);
      text += row.best == static_cast<int>(i) ? painted(screen_, Paint::green, cell) : cell;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return row.is_sum ? painted(screen_, Paint::bold, text) : text;
  }

  /// A cell; that of the best of more than two runs is marked.
  std::string mark(const TextRow& row, std::size_t i) const {
    const bool marked = c_.runs.size() > 2 && row.best == static_cast<int>(i);
    return (marked ? "* " : "") + row.cells[i];
  }

  bool is_long(const TextRow& row, const std::vector<std::size_t>& shown,
               const std::vector<int>& widths) const {
    return std::ranges::any_of(shown,
                               [&](std::size_t i) { return width_of(mark(row, i)) > widths[i]; });
  }

  /// Writes a row with a line for each value.
  void long_row(const TextRow& row, const std::vector<std::string>& columns,
                const std::vector<std::size_t>& shown) {
    line(std::string(kIndent, ' ') + row.title);
    for (const std::size_t i : shown) {
      if (row.cells[i].empty()) continue;
      const std::string lead = std::string(std::size_t{2} * kIndent, ' ') + columns[i] + "  ";
      beside(lead, width_of(lead), row.cells[i]);
    }
  }

  /// Width of the longest title of a row, with its indent.
  static int title_width(const TextTable& all) {
    int width = width_of(all.title);
    for (const TextRow& row : all.rows) width = std::max(width, kIndent + width_of(row.title));
    return width;
  }

  /// The width that the cells of each column need, but no more than lets the first two columns
  /// stand beside each other.
  std::vector<int> widths_of(const TextTable& all) const {
    const int most = (screen_.width - title_width(all)) / 2 - kGap;
    std::vector<int> widths;
    for (std::size_t i = 0; i < all.columns.size(); ++i) {
      int width = width_of(all.columns[i]);
      for (const TextRow& row : all.rows) {
        const int own = width_of(mark(row, i));
        if (own <= most && !row.is_words) width = std::max(width, own);
      }
      widths.push_back(width);
    }
    return widths;
  }

  const Comparison& c_;
};

}  // namespace

std::string comparison_text(const Comparison& comparison, const Screen& screen) {
  return ComparisonPage(comparison, screen).text();
}

}  // namespace stepsim
