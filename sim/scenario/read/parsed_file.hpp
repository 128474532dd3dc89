// Files that scenarios name again and again, parsed once.
//
// Each row of a suite and each point of a sweep names the same profiles. YAML is slow to parse:
// three quarters of loading a scenario. A copy of the process inherits what was parsed before.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "sim/scenario/read/tree.hpp"

namespace stepsim {

class ParsedFiles {
 public:
  /// As parse_tree. A file whose text was parsed before and is still the same is not parsed again.
  std::optional<Tree> parse(const std::shared_ptr<const Source>& source, const std::string& path,
                            Problems& problems);

 private:
  struct Parsed {
    std::shared_ptr<const Source> source;
    Tree tree;
  };
  std::map<std::string, Parsed> by_name_;
};

}  // namespace stepsim
