// Pieces of pictures (SVG): the head with its styles, words, frames, marks.
#include "sim/report/picture/svg.hpp"

#include <array>

#include <fmt/format.h>

#include "sim/text/file.hpp"

namespace stepsim {
namespace {

/// Shapes of about the area of a circle of 3.5 pixels, closed so that each can be hollow.
constexpr std::array kOutlines{
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",                            // circle
    "m-3.2-3.2h6.4v6.4h-6.4z",                                                 // square
    "m0-4.6l4.3 7.6h-8.6z",                                                    // triangle upwards
    "m0-4.8l4 4.8l-4 4.8l-4-4.8z",                                             // diamond
    "m0 4.6l4.3-7.6h-8.6z",                                                    // triangle downwards
    "m-1.5-4.4h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9v-3h2.9z",                     // plus
    "m-3.6-4.4l3.6 3l3.6-3v8.8l-3.6-3l-3.6 3z",                                // bow
    "m0-5.2l1.4 3.6h3.8l-3 2.4l1.2 3.8l-3.4-2.3l-3.4 2.3l1.2-3.8l-3-2.4h3.8z"  // star
};
static_assert(kOutlines.size() * kPlotColours.size() == kPlotMarks);

constexpr const char* kBegin = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox=")";
constexpr const char* kTextStyle = "text { font: 13px sans-serif; fill: #333 }\n";

}  // namespace

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '&'   ? "&amp;"
              : c == '<' ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

Maker picture_maker() {
  return {"a picture of stepsim", [](const std::string& path) {
            const std::string begin = beginning_of(path, 4096);
            return begin.starts_with(kBegin) && begin.find(kTextStyle) != std::string::npos;
          }};
}

std::string svg_begin(const SvgPage& page) {
  return fmt::format(
      "{5}0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n"
      "<style>\n"
      "{6}"
      ".grid {{ stroke: #8888; stroke-width: 0.5 }}\n"
      "{3}"
      ".frame {{ fill: none; stroke: #888 }}\n"
      "@media (prefers-color-scheme: dark) {{\n"
      "  text {{ fill: #ddd }} {4}\n"
      "}}\n"
      "</style>\n",
      page.width, page.height, escaped(page.label), page.styles, page.dark_styles, kBegin,
      kTextStyle);
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

PlotMark plot_mark(std::size_t i) {
  return {kPlotColours[i % kPlotColours.size()],
          kOutlines[i / kPlotColours.size() % kOutlines.size()]};
}

std::string svg_mark(double x, double y, const PlotMark& mark, bool is_hollow,
                     const std::string& title) {
  const std::string said =
      title.empty() ? "/>" : fmt::format("><title>{}</title></path>", escaped(title));
  return fmt::format(
      "<path class=\"mark\" d=\"M{:.1f} {:.1f}{}\" fill=\"{}\" fill-opacity=\"{}\" "
      "stroke=\"{}\"{}\n",
      x, y, mark.outline, mark.colour, is_hollow ? "0" : "0.7", mark.colour, said);
}

}  // namespace stepsim
