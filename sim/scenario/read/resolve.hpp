// From a name, a path or a map with `base:` to the map of keys that it stands for.
//
// A name is looked up in the folder of its kind below each root of the library; a text with a slash
// or ending in .yaml or .json is a path, relative to the file that it stands in; a model in .json
// is a Hugging Face config. `base:` starts from another file and replaces keys.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/load.hpp"
#include "sim/scenario/read/absent_gpus.hpp"
#include "sim/scenario/read/tree.hpp"

namespace stepsim {

/// A kind of thing that scenarios name.
struct Kind {
  std::string_view title;   ///< "GPU profile"
  std::string_view folder;  ///< "calib/gpus"
  bool by_path = true;      ///< whether a path will do in place of a name
  /// The nearest of `names` to a thing that has no file, where nearness is no matter of spelling;
  /// empty where there is none.
  std::string (*nearest)(std::string_view name, const std::vector<std::string>& names) = nullptr;
};
inline constexpr Kind kModelKind{"model", "models"};
inline constexpr Kind kClusterKind{"cluster", "scenarios/clusters"};
inline constexpr Kind kGpuKind{"GPU profile", "calib/gpus", false, nearest_gpu};
inline constexpr Kind kLinkKind{"link", "calib/links", false};

struct Resolved {
  Tree tree;          ///< a map, `base` already applied
  std::string name;   ///< the file's name without .yaml; "inline" for a map without base
  std::string title;  ///< for messages: "model 'gpt3-175b'"
  std::string hash;   ///< hash of the files' text; empty for a map without base
  /// The keys of a map beside its `base`, as YAML, and the text that the map stands in.
  std::string changes{};
  std::shared_ptr<const Source> changed_by{};
};

class Resolver {
 public:
  Resolver(const Library& library, Problems& problems) : library_(library), problems_(problems) {}

  /// Nothing when a mistake was reported. `key` is where the value's key stands, `path` its dotted
  /// name.
  std::optional<Resolved> resolve(const Tree& value, const Place& key, const Kind& kind,
                                  const std::string& path);

 private:
  std::optional<std::string> locate(const Tree& name, const Place& place, const Kind& kind,
                                    const std::string& path);
  std::optional<Resolved> read(const Tree& name, const Place& place, const Kind& kind,
                               const std::string& path);
  std::optional<Resolved> changed(const Tree& map, const Kind& kind, const std::string& path);
  std::optional<Resolved> with_base(const Tree& map, const Kind& kind, const std::string& path);
  bool closes_cycle(const std::string& file, const Place& place, const Kind& kind,
                    const std::string& path);

  const Library& library_;
  Problems& problems_;
  std::vector<std::string> open_files_;  ///< files whose `base` is being followed
};

/// Whether the text is a path rather than a name.
bool is_path(const std::string& text);

}  // namespace stepsim
