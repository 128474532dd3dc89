// The command line, one file a sub-command: each adds its options to the program's, and says what
// to do once it is chosen.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/core/error.hpp"
#include "sim/plan/scenario_argument.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

/// What the chosen command does with its options.
using Action = std::function<ExitCode()>;

void add_run(CLI::App& app, Action& chosen);
void add_explain(CLI::App& app, Action& chosen);
void add_compare(CLI::App& app, Action& chosen);
void add_search(CLI::App& app, Action& chosen);
void add_check(CLI::App& app, Action& chosen);
void add_show(CLI::App& app, Action& chosen);
void add_keys(CLI::App& app, Action& chosen);
void add_schema(CLI::App& app, Action& chosen);
void add_list(CLI::App& app, Action& chosen);
void add_import(CLI::App& app, Action& chosen);
void add_export(CLI::App& app, Action& chosen);
void add_calibrate(CLI::App& app, Action& chosen);
void add_validate(CLI::App& app, Action& chosen);
void add_sweep(CLI::App& app, Action& chosen);
void add_merge(CLI::App& app, Action& chosen);
void add_report(CLI::App& app, Action& chosen);
void add_new(CLI::App& app, Action& chosen);
void add_complete(CLI::App& app, Action& chosen);

/// Colours where standard output is a terminal that shows them and nobody said NO_COLOR; progress
/// where standard error is a terminal.
Screen screen_here();

/// Accepts these words only, and proposes the nearest one.
CLI::Validator one_of_these(const std::vector<std::string>& words);
/// An option whose shell variable was never set says nothing.
CLI::Validator not_empty();

/// A whole number from 1 on; CLI11 would take -1 for the largest there is.
CLI::Validator positive();

/// The scenario's file and `--set`.
void add_scenario(CLI::App& app, ScenarioArgument& argument);
/// Which command reads the file that was given as the chosen command's scenario; empty where it is
/// nothing else that is known (sim/import/kind_of_file.hpp).
std::string way_out_for_its_scenario(const CLI::App& app);
/// `--format`, which is one of these words.
void add_format(CLI::App& app, std::string& format, const std::vector<std::string>& words);
/// A file that the command writes, which --help shows by `OUTFILE`.
CLI::Option* add_output(CLI::App& app, const std::string& names, std::string& path,
                        const std::string& text);
/// `--html`: a page of the answer.
void add_html(CLI::App& app, std::string& path);
/// `--force`: outputs replace files that the command has not made.
void add_force(CLI::App& app, bool& force);
/// `--jobs`, which `text` explains.
void add_jobs(CLI::App& app, int& jobs, const std::string& text);

}  // namespace stepsim
