// The schemas, made from what the readers declare.
#include "sim/command/schema/schema.hpp"

#include <array>
#include <ostream>

#include "sim/command/schema/schema_writer.hpp"
#include "sim/core/version.hpp"
#include "sim/scenario/describe/describe.hpp"
#include "sim/scenario/describe/describe_suite.hpp"
#include "sim/scenario/describe/describe_sweep.hpp"

namespace stepsim {
namespace {

template <class T>
Json of(T value, bool is_profile) {
  SchemaWriter io(is_profile);
  describe(io, value);
  return io.object();
}

struct File {
  std::string_view name, title;
  Json (*schema)();
};

constexpr std::array kFiles{
    File{"scenario", "a scenario of stepsim", scenario_schema},
    File{"model", "a file of models/", [] { return with_base(model_schema()); }},
    File{"cluster", "a file of scenarios/clusters/",
         [] { return with_base(of(Cluster{}, false)); }},
    File{"gpu", "a file of calib/gpus/", [] { return with_base(of(GpuProfile{}, true)); }},
    File{"link", "a file of calib/links/", [] { return with_base(of(LinkProfile{}, true)); }},
    File{"suite", "a file of validate/suites/", [] { return of(Suite{}, false); }},
    File{"sweep", "a file of stepsim sweep", [] { return of(SweepFile{}, false); }},
};

}  // namespace

std::vector<std::string> schemas() {
  std::vector<std::string> names;
  for (const File& file : kFiles) names.emplace_back(file.name);
  return names;
}

ExitCode schema(const std::string& what, std::ostream& out) {
  for (const File& file : kFiles) {
    if (file.name != what) continue;
    Json text{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", file.title},
              {"$comment", std::string("made by stepsim schema ") + kVersion}};
    text.update(file.schema());
    out << text.dump(1) << '\n';
  }
  return ExitCode::ok;
}

}  // namespace stepsim
