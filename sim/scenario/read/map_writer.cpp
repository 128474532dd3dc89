// Layout of the YAML that MapWriter makes, and `to_yaml`.
#include "sim/scenario/read/map_writer.hpp"

#include <fmt/format.h>

#include "sim/scenario/describe/describe.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/read/expectation.hpp"

namespace stepsim {

void MapWriter::line(std::string_view key, const std::string& value) {
  text_ += fmt::format("{:{}}{}: {}\n", "", indent_, key, value);
}

void MapWriter::nest(std::string_view key, const MapWriter& io) {
  if (!io.text_.empty()) text_ += fmt::format("{:{}}{}:\n{}", "", indent_, key, io.text_);
}

void MapWriter::named(std::string_view key, const std::string& name, const std::string& changes) {
  line(key, changes.empty() ? write_scalar(name)
                            : fmt::format("{{base: {}, {}}}", write_scalar(name), changes));
}

void MapWriter::item(const MapWriter& io) {
  text_ +=
      fmt::format("{:{}}- {}", "", indent_, io.text_.substr(static_cast<std::size_t>(io.indent_)));
}

void MapWriter::part(std::string_view key, LinkProfile& link, std::string_view doc) {
  if (!link.hash.empty()) {
    named(key, link.name, link.changes);
  } else if (link.bandwidth.base() > 0) {
    section(key, link, doc);
  }
}

void MapWriter::expectations(std::string_view key, std::vector<Expectation>& expectations,
                             std::string_view) {
  MapWriter io(indent_ + kStep);
  for (const std::string& name : expectation_keys()) {
    std::vector<std::string> texts;
    for (const Expectation& expectation : expectations) {
      if (expectation.key == name) texts.push_back(write_scalar(expectation_text(expectation)));
    }
    if (!texts.empty()) io.line(name, texts.size() == 1 ? texts.front() : flow_list_of(texts));
  }
  nest(key, io);
}

std::string to_yaml(const Scenario& scenario) {
  // Descriptions are shared with the reader and take what they describe by reference.
  Scenario copy = scenario;
  MapWriter io;
  describe(io, copy);
  return io.text();
}

}  // namespace stepsim
