// The program: a command line becomes options (sim/cli/), a command turns them into an answer
// (sim/command/), errors become exit codes.
//
// What happens in between is one line, and `answer_of` (sim/command/answer/answer.cpp) holds it
// almost literally:
//   scenario.yaml -load-> Scenario -build-> OpGraph -make_plan-> Plan -simulate-> Timeline
//   -measure-> Metrics
#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/cli/build_identity.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/words.hpp"
#include "sim/core/error.hpp"
#include "sim/core/version.hpp"
#include "sim/process/interrupt.hpp"
#include "sim/process/out_of_memory.hpp"
#include "sim/process/standard_streams.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {
namespace {

/// In the order in which --help lists them.
constexpr std::array kCommands{add_new,    add_run,    add_explain,   add_compare,  add_search,
                               add_check,  add_show,   add_keys,      add_schema,   add_list,
                               add_import, add_export, add_calibrate, add_validate, add_sweep,
                               add_merge,  add_report, add_complete};

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 an expectation failed, 2 bad input, 3 not completed (deadlock, Ctrl-C),\n"
    "4 a file could not be read or written, 5 out of memory, 70 a defect of stepsim.\n\n"
    "Example: stepsim new finetune-fsdp2 -o mine.yaml\n         stepsim run mine.yaml";

constexpr const char* kNoOutput = "cannot write the result to standard output";
constexpr const char* kNoMemory =
    "out of memory: this machine, or a limit such as `ulimit -v`, gives stepsim no more\n"
    "A simulation takes less with fewer steps (run.steps, run.warmup) and micro-batches, without "
    "--fold off\nand --trace; a search or sweep with fewer --jobs\n";

/// Commands that print what is known when Ctrl-C comes, however early.
constexpr std::array kInterruptible{"explain", "search", "sweep", "validate"};

int fail(ExitCode code, const std::exception& error) {
  std::cerr << error.what() << '\n';
  return static_cast<int>(code);
}

/// Words that CLI11 has an answer to: --help, --version, or a mistake that it names.
int answer_to_words(const CLI::App& app, const CLI::ParseError& error) {
  if (app.exit(error) != 0) return static_cast<int>(ExitCode::bad_input);
  return std::cout.flush() ? 0 : fail(ExitCode::io, IoError(kNoOutput));
}

// NOLINTNEXTLINE(bugprone-exception-escape): what is thrown before words are read is a defect
int main(int argc, char** argv) {
  open_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // beyond the size that a file may have, writing fails instead
  end_when_out_of_memory(kNoMemory, static_cast<int>(ExitCode::out_of_memory));
  if (argc > 1 &&
      std::ranges::find(kInterruptible, std::string_view(argv[1])) != kInterruptible.end())
    exit_when_interrupted();
  CLI::App app{"stepsim: a discrete-event simulator of distributed training steps"};
  Action chosen;
  app.footer(kFooter);
  app.set_version_flag("--version", fmt::format("{} {}", kVersion, kBuildIdentity));
  app.require_subcommand(1);
  for (const auto add : kCommands) add(app, chosen);
  try {
    const std::vector<std::string> words = words_of(argc, argv, app);
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    app.parse(static_cast<int>(pointers.size()), pointers.data());
    for (const std::string& warning : library_warnings())
      std::cerr << "warning: " << warning << '\n';
    const ExitCode code = chosen();
    if (!std::cout.flush()) throw IoError(kNoOutput);
    return static_cast<int>(code);
  } catch (const CLI::ParseError& error) {
    const std::string mistake = mistake_in_words(app, error);
    if (mistake.empty()) return answer_to_words(app, error);
    return fail(ExitCode::bad_input, UserError(mistake));
  } catch (const UserError& error) {
    const std::string way_out = way_out_for_its_scenario(app);
    return fail(ExitCode::bad_input, way_out.empty() ? error : UserError(way_out));
  } catch (const Interrupted& error) {
    error.end_process();
  } catch (const SimulationError& error) {
    return fail(ExitCode::incomplete, error);
  } catch (const IoError& error) {
    return fail(ExitCode::io, error);
  } catch (const std::bad_alloc&) {
    std::cerr << kNoMemory;
    return static_cast<int>(ExitCode::out_of_memory);
  } catch (const std::exception& error) {
    std::cerr << "a defect of stepsim: ";
    return fail(ExitCode::internal, error);
  } catch (...) {  // a reader's own type that nobody caught
    std::cerr << "a defect of stepsim: something was thrown that is no std::exception\n";
    return static_cast<int>(ExitCode::internal);
  }
}

}  // namespace
}  // namespace stepsim

// NOLINTNEXTLINE(bugprone-exception-escape): the one above catches
int main(int argc, char** argv) { return stepsim::main(argc, argv); }
