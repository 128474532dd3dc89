// The program: a command line becomes options (sim/cli/), a command turns them into an answer
// (sim/command/), errors become exit codes.
//
// What happens in between is one line, and `answer_of` (sim/command/answer.cpp) holds it almost
// literally:
//   scenario.yaml -load-> Scenario -build-> OpGraph -make_plan-> Plan -simulate-> Timeline
//   -measure-> Metrics
#include <algorithm>
#include <array>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/cli/build_identity.hpp"
#include "sim/cli/options.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/version.hpp"

namespace stepsim {
namespace {

/// In the order in which --help lists them.
constexpr std::array kCommands{add_run,       add_explain,  add_compare, add_search,
                               add_check,     add_show,     add_list,    add_import,
                               add_calibrate, add_validate, add_sweep,   add_merge};

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 an expectation failed, 2 bad input, 3 the simulation could not complete,\n"
    "4 a file could not be read or written, 70 a defect of stepsim.\n\n"
    "Example: stepsim run scenarios/gpt3-175b-1024xa100.yaml --set cluster.nodes=64";

/// CLI11 would only say that a subcommand is required.
void refuse_unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  throw UserError(fmt::format("no command '{}', {}", argv[1], did_you_mean(argv[1], names)));
}

int fail(ExitCode code, const std::exception& error) {
  std::cerr << error.what() << '\n';
  return static_cast<int>(code);
}

int main(int argc, char** argv) {
  CLI::App app{"stepsim: a discrete-event simulator of distributed training steps"};
  Action chosen;
  app.footer(kFooter);
  app.set_version_flag("--version", fmt::format("{} {}", kVersion, kBuildIdentity));
  app.require_subcommand(1);
  for (const auto add : kCommands) add(app, chosen);
  try {
    refuse_unknown_command(app, argc, argv);
    app.parse(argc, argv);
    const ExitCode code = chosen();
    if (!std::cout.flush()) throw IoError("cannot write the result to standard output");
    return static_cast<int>(code);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::bad_input);
  } catch (const UserError& error) {
    return fail(ExitCode::bad_input, error);
  } catch (const SimulationError& error) {
    return fail(ExitCode::incomplete, error);
  } catch (const IoError& error) {
    return fail(ExitCode::io, error);
  } catch (const std::exception& error) {
    std::cerr << "a defect of stepsim: ";
    return fail(ExitCode::internal, error);
  }
}

}  // namespace
}  // namespace stepsim

int main(int argc, char** argv) { return stepsim::main(argc, argv); }
