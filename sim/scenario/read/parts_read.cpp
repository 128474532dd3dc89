// The identity of a part of a scenario.
#include "sim/scenario/read/parts_read.hpp"

#include <fmt/format.h>

namespace stepsim {
namespace {

/// Settings of points are sources of their own with equal texts; a file is one as long as it lives.
void add_place(const Place& place, std::string& text) {
  const Source* source = place.source.get();
  const bool is_setting = source != nullptr && source->is_override;
  const auto out = std::back_inserter(text);
  if (is_setting) {
    fmt::format_to(out, "{}\n{}\n{}", source->name, source->folder, source->text);
  } else {
    fmt::format_to(out, "{}", static_cast<const void*>(source));
  }
  fmt::format_to(out, ":{}:{}\n", place.line, place.column);
}

void add_tree(const Tree& tree, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{}{} {}\n", static_cast<int>(tree.kind),
                 tree.is_opened ? "!" : "", tree.scalar);
  add_place(tree.place, text);
  for (const Tree& item : tree.items) add_tree(item, text);
  for (const Entry& entry : tree.entries) {
    fmt::format_to(std::back_inserter(text), "{}:", entry.key);
    add_place(entry.key_place, text);
    add_tree(entry.value, text);
  }
  text += '\n';
}

}  // namespace

std::string part_identity(const Tree& stated, const std::string& path) {
  std::string text = path + "\n";
  add_tree(stated, text);
  return text;
}

}  // namespace stepsim
