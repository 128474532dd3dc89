// A screen of text while it is written: lines, and paragraphs beside their labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/text/layout.hpp"

namespace stepsim {

class Page {
 protected:
  static constexpr int kLabel = 15;  ///< width of the labels at the left

  /// A page as wide as the screen, but no narrower than its columns need and no wider than is
  /// quick to read.
  Page(Screen screen, int narrowest, int widest);

  void line(std::string_view text = "") { out_.append(text).append("\n"); }
  std::string bold(std::string_view text) const { return painted(screen_, Paint::bold, text); }
  std::string dim(std::string_view text) const { return painted(screen_, Paint::dim, text); }

  /// Adds a title, which may wrap.
  void heading(std::string_view text);
  /// Adds a text that wraps, each of its lines behind so many blanks.
  void wrapped(std::string_view text, int indent = 0);
  /// Adds a lead of that width, and a text that wraps beside it.
  void beside(const std::string& lead, int width, std::string_view text);
  /// Adds a label and a text that wraps beside it.
  void paragraph(std::string_view label, std::string_view text, Paint paint = Paint::bold,
                 int width = kLabel);
  /// Adds a label, and beside it lines that are not wrapped.
  void labelled(std::string_view label, const std::vector<std::string>& lines);

  Screen screen_;
  std::string out_;

 private:
  void put_beside(std::string lead, int width, const std::vector<std::string>& lines);
};

}  // namespace stepsim
