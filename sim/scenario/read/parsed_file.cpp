// The texts and their trees, by the files' names.
#include "sim/scenario/read/parsed_file.hpp"

#include <map>
#include <utility>

namespace stepsim {
namespace {

struct Parsed {
  std::shared_ptr<const Source> source;
  Tree tree;
};

}  // namespace

std::optional<Tree> parse_file(const std::shared_ptr<const Source>& source, const std::string& path,
                               Problems& problems) {
  static std::map<std::string, Parsed> known;
  const auto found = known.find(source->name);
  if (found != known.end() && found->second.source->text == source->text) return found->second.tree;
  auto tree = parse_tree(source, path, problems);
  if (tree) known.insert_or_assign(source->name, Parsed{source, *tree});
  return tree;
}

}  // namespace stepsim
