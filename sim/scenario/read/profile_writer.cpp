// Layout of the YAML that ProfileWriter makes, and `profile_yaml`.
#include "sim/scenario/read/profile_writer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/scenario/describe/describe.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kLongestItem = 140;  // judgement: of a list of lines, on one line

/// A constant whose key is not as it was would have the source of what holds it.
void check_paths(const ProfileSources& sources, const std::set<std::string>& constants) {
  for (const auto& [path, id] : sources.of) {
    const auto is_at = [&path = path](const std::string& constant) {
      return path.empty() || (constant.starts_with(path) &&
                              (constant.size() == path.size() || constant[path.size()] == '.' ||
                               constant[path.size()] == '['));
    };
    if (std::none_of(constants.begin(), constants.end(), is_at))
      throw InternalError(fmt::format("a source for '{}', which the profile does not have", path));
  }
}

template <class Profile>
std::string written(const Profile& profile, const std::string& title,
                    const ProfileSources& sources) {
  Profile copy = profile;  // descriptions take what they describe by reference
  ProfileWriter::Used used;
  ProfileWriter io(sources, used);
  describe(io, copy);
  check_paths(sources, used.paths);
  std::string map = "sources:\n";
  for (const auto& [id, text] : sources.texts)
    if (used.ids.count(id) > 0) map += fmt::format("  {}: {}\n", id, write_scalar(text));
  std::string text = "# " + title + "\n" + io.text();
  const std::string mark = ProfileWriter::kSources;
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) throw InternalError("a profile without sources");
  return text.replace(at, mark.size(), map);
}

}  // namespace

const std::string& ProfileWriter::source_of(const std::string& path) {
  used_.paths.insert(path);
  std::string holder = path;
  auto found = sources_.of.find(holder);
  while (found == sources_.of.end() && !holder.empty()) {
    const std::size_t end = holder.find_last_of(".[");
    holder.resize(end == std::string::npos ? 0 : end);
    found = sources_.of.find(holder);
  }
  if (found == sources_.of.end())
    throw InternalError(fmt::format("no source for '{}' of a profile", path));
  used_.ids.insert(found->second);
  return found->second;
}

void ProfileWriter::line(std::string_view key, const std::string& value) {
  entries_.push_back(fmt::format("{}: {}", key, value));
  text_ += fmt::format("{:{}}{}\n", "", indent_, entries_.back());
}

void ProfileWriter::nest(std::string_view key, const ProfileWriter& io) {
  is_flat_ = false;
  if (!io.text_.empty()) text_ += fmt::format("{:{}}{}:\n{}", "", indent_, key, io.text_);
}

void ProfileWriter::item(const ProfileWriter& io) {
  const std::string flow = fmt::format("{{{}}}", fmt::join(io.entries_, ", "));
  const std::string text = io.is_flat_ && flow.size() <= kLongestItem
                               ? flow + "\n"
                               : io.text_.substr(static_cast<std::size_t>(io.indent_));
  text_ += fmt::format("{:{}}- {}", "", indent_, text);
}

std::string profile_yaml(const GpuProfile& profile, const std::string& title,
                         const ProfileSources& sources) {
  return written(profile, title, sources);
}

std::string profile_yaml(const LinkProfile& profile, const std::string& title,
                         const ProfileSources& sources) {
  return written(profile, title, sources);
}

}  // namespace stepsim
