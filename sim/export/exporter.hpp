// A framework's own options for a plan: one file each, on a list.
//
// An exporter is a value in its own .cpp:
//   const Registered<Exporter> registered{{.name = "megatron", .description = "...", ...}};
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/registry.hpp"
#include "sim/import/import_options.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// What a framework is started with.
struct Exported {
  std::string text;  ///< the file
  /// The import of that text, with what the file does not hold: model, cluster, nodes.
  ImportOptions import;
  std::vector<std::string> notes;  ///< what the reader of the file has to know
};

struct Exporter {
  std::string_view name;  ///< of the importer too
  std::string_view description;
  Framework (*framework)(const Scenario& scenario);  ///< whose abilities count
  /// Throws UserError where the framework cannot run the plan.
  Exported (*write)(const Scenario& scenario);
  /// Beginnings of keys that the framework has, but its program states and not the file.
  std::vector<std::string_view> of_program{};
  /// Keys with values of the framework's own, which only the import of the text can compare.
  std::vector<std::string_view> compared{};
};

}  // namespace stepsim
