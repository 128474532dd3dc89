// Reads a profile's file as a tree, and notes the source beside each of its values.
#include "sim/calibrate/profile/stated_sources.hpp"

#include <fmt/format.h>

#include "sim/core/problems.hpp"
#include "sim/scenario/read/resolve.hpp"

namespace stepsim {
namespace {

using PathIds = std::map<std::string, std::string>;

bool is_at_or_below(const std::string& path, const std::string& holder) {
  return path.starts_with(holder) &&
         (path.size() == holder.size() || path[holder.size()] == '.' || path[holder.size()] == '[');
}

void erase_below(PathIds& ids, const std::string& path) {
  std::erase_if(ids, [&](const auto& entry) { return is_at_or_below(entry.first, path); });
}

/// A precision that is `like` another begins with its sources.
void copy_like(const std::string& from, const std::string& to, PathIds& ids) {
  PathIds copies;
  for (const auto& [path, id] : ids) {
    if (is_at_or_below(path, from)) copies[to + path.substr(from.size())] = id;
  }
  ids.merge(copies);
}

void collect(const Tree& tree, const std::string& path, PathIds& ids) {
  for (std::size_t i = 0; i < tree.items.size(); ++i)
    collect(tree.items[i], fmt::format("{}[{}]", path, i), ids);
  if (const Entry* like = tree.find("like")) {
    const std::size_t end = path.find_last_of('.');
    copy_like(path.substr(0, end + 1) + like->value.scalar, path, ids);
  }
  for (const Entry& entry : tree.entries) {
    const std::string below = path.empty() ? entry.key : path + "." + entry.key;
    if (entry.key == "source") {
      ids[path] = entry.value.scalar;
    } else if (entry.key == "sources") {
      continue;
    } else if (entry.value.kind == Tree::Kind::empty) {
      erase_below(ids, below);
    } else {
      collect(entry.value, below, ids);
    }
  }
}

ProfileSources stated_sources(const std::string& name, const Kind& kind, const Library& library) {
  Problems problems;
  Tree wanted;
  wanted.kind = Tree::Kind::scalar;
  wanted.scalar = name;
  const auto found = Resolver(library, problems).resolve(wanted, {}, kind, "");
  problems.throw_if_any();
  ProfileSources sources;
  if (const Entry* texts = found->tree.find("sources")) {
    for (const Entry& text : texts->value.entries)
      sources.texts.emplace_back(text.key, text.value.scalar);
  }
  sources.texts.emplace_back("not-stated",
                             fmt::format("derived: not stated for {}, the key's default", name));
  collect(found->tree, "", sources.of);
  sources.of[""] = "not-stated";
  return sources;
}

}  // namespace

ProfileSources stated_gpu_sources(const std::string& name, const Library& library) {
  return stated_sources(name, kGpuKind, library);
}

ProfileSources stated_link_sources(const std::string& name, const Library& library) {
  return stated_sources(name, kLinkKind, library);
}

}  // namespace stepsim
