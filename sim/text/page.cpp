// Writes labels at the left and texts beside them.
#include "sim/text/page.hpp"

#include <algorithm>

namespace stepsim {

Page::Page(Screen screen, int narrowest, int widest) : screen_(screen) {
  screen_.width = std::clamp(screen_.width, narrowest, widest);
}

void Page::paragraph(std::string_view label, std::string_view text, Paint paint, int width) {
  labelled(label, wrap(text, screen_.width - width), paint, width);
}

void Page::labelled(std::string_view label, const std::vector<std::string>& lines, Paint paint,
                    int width) {
  std::string lead = painted(screen_, paint, pad_right(label, width));
  for (const std::string& part : lines) {
    line(lead + part);
    lead = std::string(static_cast<std::size_t>(width), ' ');
  }
}

}  // namespace stepsim
