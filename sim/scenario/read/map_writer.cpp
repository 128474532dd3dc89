// Layout of the YAML that MapWriter makes, `to_yaml` and `profile_yaml`.
#include "sim/scenario/read/map_writer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/scenario/describe/describe.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/read/expectation.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kLongestItem = 140;  // judgement: of a list of lines, on one line

/// A constant whose key is not as it was would have the source of what holds it.
void check_paths(const MapWriter::Sources& sources) {
  for (const auto& [path, id] : sources.known.of) {
    const auto is_at = [&path = path](const std::string& constant) {
      return path.empty() || (constant.starts_with(path) &&
                              (constant.size() == path.size() || constant[path.size()] == '.' ||
                               constant[path.size()] == '['));
    };
    if (std::ranges::none_of(sources.paths, is_at))
      throw InternalError(fmt::format("a source for '{}', which the profile does not have", path));
  }
}

/// The text of all of the value.
template <class T>
std::string written(const T& value, MapWriter::Sources* sources = nullptr) {
  T copy =
      value;  // descriptions are shared with the reader and take what they describe by reference
  MapWriter io(sources);
  describe(io, copy);
  return io.text();
}

template <class Profile>
std::string profile_text(const Profile& profile, const std::string& title,
                         const ProfileSources& known) {
  MapWriter::Sources sources{known, {}, {}};
  std::string text = "# " + title + "\n" + written(profile, &sources);
  check_paths(sources);
  std::string map = "sources:\n";
  for (const auto& [id, source] : known.texts)
    if (sources.ids.count(id) > 0) map += fmt::format("  {}: {}\n", id, write_scalar(source));
  const std::string mark = MapWriter::kSources;
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) throw InternalError("a profile without sources");
  return text.replace(at, mark.size(), map);
}

}  // namespace

const std::string& MapWriter::Sources::id_of(const std::string& path) {
  paths.insert(path);
  std::string holder = path;
  auto found = known.of.find(holder);
  while (found == known.of.end() && !holder.empty()) {
    const std::size_t end = holder.find_last_of(".[");
    holder.resize(end == std::string::npos ? 0 : end);
    found = known.of.find(holder);
  }
  if (found == known.of.end())
    throw InternalError(fmt::format("no source for '{}' of a profile", path));
  ids.insert(found->second);
  return found->second;
}

void MapWriter::line(std::string_view key, const std::string& value) {
  entries_.push_back(fmt::format("{}: {}", key, value));
  text_ += fmt::format("{:{}}{}\n", "", indent_, entries_.back());
}

void MapWriter::line_of_constant(std::string_view key, const std::string& value) {
  if (!is_profile()) return line(key, value);
  const std::string& source = sources_->id_of(path_ + std::string(key));
  line(key, fmt::format("{{value: {}, source: {}}}", value, source));
}

void MapWriter::nest(std::string_view key, const MapWriter& io) {
  is_flat_ = false;
  if (!io.text_.empty()) text_ += fmt::format("{:{}}{}:\n{}", "", indent_, key, io.text_);
}

void MapWriter::named(std::string_view key, const std::string& name, const std::string& changes) {
  line(key, changes.empty() ? write_scalar(name)
                            : fmt::format("{{base: {}, {}}}", write_scalar(name), changes));
}

void MapWriter::item(const MapWriter& io) {
  const std::string flow = fmt::format("{{{}}}", fmt::join(io.entries_, ", "));
  const std::string text = is_profile() && io.is_flat_ && flow.size() <= kLongestItem
                               ? flow + "\n"
                               : io.text_.substr(static_cast<std::size_t>(io.indent_));
  text_ += fmt::format("{:{}}- {}", "", indent_, text);
}

void MapWriter::part(std::string_view key, Model& model, std::string_view doc) {
  section(key, model, doc);
}

void MapWriter::part(std::string_view key, Cluster& cluster, std::string_view doc) {
  section(key, cluster, doc);
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
  MapWriter io = below("", kStep);
  for (const std::string& name : expectation_keys()) {
    std::vector<std::string> texts;
    for (const Expectation& expectation : expectations) {
      if (expectation.key == name) texts.push_back(write_scalar(expectation_text(expectation)));
    }
    if (!texts.empty()) io.line(name, texts.size() == 1 ? texts.front() : flow_list_of(texts));
  }
  nest(key, io);
}

std::string to_yaml(const Scenario& scenario) { return written(scenario); }

std::string profile_yaml(const GpuProfile& profile, const std::string& title,
                         const ProfileSources& sources) {
  return profile_text(profile, title, sources);
}

std::string profile_yaml(const LinkProfile& profile, const std::string& title,
                         const ProfileSources& sources) {
  return profile_text(profile, title, sources);
}

}  // namespace stepsim
