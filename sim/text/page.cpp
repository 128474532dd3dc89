// Writes labels at the left and texts beside them.
#include "sim/text/page.hpp"

#include <algorithm>

namespace stepsim {

Page::Page(Screen screen, int narrowest, int widest) : screen_(screen) {
  screen_.width = std::clamp(screen_.width, narrowest, widest);
}

void Page::heading(std::string_view text) {
  for (const std::string& part : wrap(text, screen_.width)) line(bold(part));
}

void Page::wrapped(std::string_view text, int indent) {
  for (const std::string& part : wrap(text, screen_.width - indent))
    line(part.empty() ? "" : std::string(static_cast<std::size_t>(indent), ' ') + part);
}

void Page::beside(const std::string& lead, int width, std::string_view text) {
  put_beside(lead, width, wrap(text, screen_.width - width));
}

void Page::paragraph(std::string_view label, std::string_view text, Paint paint, int width) {
  beside(painted(screen_, paint, pad_right(label, width)), width, text);
}

void Page::labelled(std::string_view label, const std::vector<std::string>& lines) {
  put_beside(bold(pad_right(label, kLabel)), kLabel, lines);
}

void Page::put_beside(std::string lead, int width, const std::vector<std::string>& lines) {
  for (const std::string& part : lines) {
    line(lead + part);
    lead = std::string(static_cast<std::size_t>(width), ' ');
  }
}

}  // namespace stepsim
