// Writes pieces of pictures (SVG): the head with its styles, words, frames.
#include "sim/report/picture/svg.hpp"

#include <fmt/format.h>

namespace stepsim {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string svg_begin(const SvgPage& page) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n"
      "<style>\n"
      "text {{ font: 13px sans-serif; fill: #333 }}\n"
      ".grid {{ stroke: #8888; stroke-width: 0.5 }}\n"
      "{3}"
      ".frame {{ fill: none; stroke: #888 }}\n"
      "@media (prefers-color-scheme: dark) {{\n"
      "  text {{ fill: #ddd }} {4}\n"
      "}}\n"
      "</style>\n",
      page.width, page.height, escaped(page.label), page.styles, page.dark_styles);
}

std::string svg_words(double x, double y, const char* anchor, const std::string& text,
                      const std::string& attributes) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}{}>{}</text>\n", x, y,
                     anchor, attributes.empty() ? "" : " ", attributes, escaped(text));
}

std::string svg_frame(double x, double y, double width, double height) {
  return fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", x, y,
                     width, height);
}

}  // namespace stepsim
