// Reads the command line of a measuring program.
#include "calib/harness/options.hpp"

#include <algorithm>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/duration.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/version.hpp"

namespace stepsim::calib {
namespace {

/// The least and the most bytes of a working set: smaller ones have hardly a point left, larger
/// ones are beyond any cache.
constexpr std::int64_t kLeastWorkingSet = std::int64_t{1} << 20,
                       kMostWorkingSet = std::int64_t{4} << 30;

std::string footer(const HarnessProgram& program) {
  return fmt::format(
      "Measurements that the file already has are not repeated, so that a call that was cut off\n"
      "goes on where it was. The format is described in docs/calibration.md.\n\n"
      "Exit codes: 0 ok, also when the budget ended first; 2 bad input,{0}\n"
      "4 a file could not be read or written, 70 {1} failed, 130 interrupted (the file is "
      "whole).\n\n"
      "Example: {2} {3}",
      program.absent.empty() ? "" : fmt::format(" 3 {},", program.absent), program.failed,
      program.name, program.example);
}

PointKind parse_kind(const std::string& text) {
  if (const auto kind = find_measured<PointKind>(text)) return *kind;
  throw UserError(fmt::format("--only: unknown kind '{}', {}", text,
                              did_you_mean(text, measured_names<PointKind>())));
}

}  // namespace

bool HarnessOptions::wants(const Point& point) const {
  return only.empty() || std::find(only.begin(), only.end(), kind_of(point)) != only.end();
}

std::optional<HarnessOptions> parse_options(const std::vector<std::string>& arguments,
                                            std::ostream& out, const HarnessProgram& program) {
  HarnessOptions options;
  std::vector<std::string> only, budget;
  CLI::App app{fmt::format("measures what a stepsim profile of this {} needs", program.device),
               program.name};
  app.footer(footer(program));
  app.set_version_flag("--version", kVersion);
  app.add_flag("--list", options.list,
               fmt::format("print the points in their order; needs no {}", program.device));
  app.add_option("--only", only,
                 fmt::format("kinds: {}", fmt::join(measured_names<PointKind>(), ",")))
      ->delimiter(',');
  app.add_option("--budget", budget, "stop after this time: 90s, 10 min, 1.5h")->expected(1, 2);
  if (program.numbered) {
    app.add_option("--device", options.device, "the GPU, as CUDA numbers them")
        ->check(CLI::NonNegativeNumber);
  } else {
    app.add_option("--folder", options.folder, "where files are written that are then read");
    app.add_option("--working-set", options.working_set,
                   "memory that operands take turns in: 16MiB; default: beyond the caches")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(kLeastWorkingSet, kMostWorkingSet));
  }
  app.add_option("-o,--output", options.output, "the file of measurements");
  app.add_flag("--retry", options.again, "measure again what was skipped");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& success) {
    app.exit(success, out, out);
    return {};
  } catch (const CLI::ParseError& error) {
    throw UserError(error.what());
  }
  for (const std::string& kind : only) options.only.push_back(parse_kind(kind));
  if (!budget.empty()) options.budget_s = parse_duration(fmt::format("{}", fmt::join(budget, " ")));
  return options;
}

}  // namespace stepsim::calib
