// Trees of texts, by the names of their files.
#include "sim/scenario/read/parsed_file.hpp"

namespace stepsim {

std::optional<Tree> ParsedFiles::parse(const std::shared_ptr<const Source>& source,
                                       const std::string& path, Problems& problems) {
  const auto found = by_name_.find(source->name);
  if (found != by_name_.end() && found->second.source->text == source->text)
    return found->second.tree;
  auto tree = parse_tree(source, path, problems);
  if (tree) by_name_.insert_or_assign(source->name, Parsed{source, *tree});
  return tree;
}

}  // namespace stepsim
