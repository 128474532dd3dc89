// The program: a command line becomes options, a command turns them into an answer, errors become
// exit codes.
//
// What happens in between is one line, and `answer_of` (sim/command/answer.cpp) holds it almost
// literally:
//   scenario.yaml -load-> Scenario -build-> OpGraph -make_plan-> Plan -simulate-> Timeline
//   -measure-> Metrics
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "sim/command/command.hpp"
#include "sim/command/launcher.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/version.hpp"

namespace stepsim {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 an expectation failed, 2 bad input, 3 the simulation could not complete,\n"
    "4 a file could not be read or written, 70 a defect of stepsim.\n\n"
    "Example: stepsim run scenarios/gpt3-175b-1024xa100.yaml --set cluster.nodes=64";

bool wants_colour() {
  const char* term = std::getenv("TERM");
  if (was_launched_for_mpi()) return false;  // mpirun's pipes look like terminals
  return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr && term != nullptr &&
         std::string(term) != "dumb";
}

/// Accepts these words only, and proposes the nearest one.
CLI::Validator one_of_these(const std::vector<std::string>& words) {
  const auto refuse = [words](const std::string& text) {
    const bool known = std::find(words.begin(), words.end(), text) != words.end();
    return known ? "" : fmt::format("unknown '{}', {}", text, did_you_mean(text, words));
  };
  return {refuse, fmt::format("{{{}}}", fmt::join(words, ","))};
}

/// An option whose shell variable was never set says nothing.
CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? "is empty" : ""; }, ""};
}

void add_scenario(CLI::App& app, ScenarioArgument& argument) {
  app.add_option("scenario", argument.path, "scenario file (YAML)")->required();
  app.add_option("--set", argument.overrides,
                 "path=value, instead of what the file says (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
}

/// Fills the options of the chosen command and returns what to do.
struct CommandLine {
  CLI::App app{"stepsim: a discrete-event simulator of distributed training steps"};
  RunOptions run_options;
  ExplainOptions explain_options;
  CompareOptions compare_options;
  SearchOptions search_options;
  ScenarioArgument check_argument;
  ShowOptions show_options;
  ImportOptions import_options;
  CalibrateFitOptions fit_options;
  CalibrateCpuOptions cpu_options;
  CalibrateProbeOptions probe_options;
  ValidateOptions validate_options;
  SweepOptions sweep_options;
  MergeOptions merge_options;
  std::string fold = "auto", listed;
  std::function<ExitCode()> chosen;

  CommandLine() {
    app.footer(kFooter);
    app.set_version_flag("--version", kVersion);
    app.require_subcommand(1);
    add_run();
    add_explain();
    add_compare();
    add_search();
    CLI::App* check = app.add_subcommand("check", "check a scenario without running it");
    add_scenario(*check, check_argument);
    check->callback(
        [this] { chosen = [this] { return stepsim::check(check_argument, std::cout); }; });
    add_show();
    CLI::App* list = app.add_subcommand("list", "list the names that a scenario may use");
    list->add_option("what", listed)
        ->required()
        ->check(one_of_these({"models", "gpus", "attention", "links", "clusters", "conventions",
                              "distributions", "frameworks", "collectives", "node-topologies",
                              "optimizers", "schedules", "shardings", "topologies"}));
    list->callback([this] { chosen = [this] { return stepsim::list(listed, std::cout); }; });
    add_import();
    add_calibrate();
    add_validate();
    add_sweep();
    add_merge();
  }

  void add_show() {
    CLI::App* show =
        app.add_subcommand("show", "show what lies between the scenario and the answer");
    show->add_option("what", show_options.what)
        ->required()
        ->check(one_of_these(
            {"scenario", "cluster", "ops", "plan", "memory", "timeline", "collective"}));
    add_scenario(*show, show_options.scenario);
    show->add_flag("--dot", show_options.dot, "cluster: a picture, for Graphviz's dot");
    CollectiveQuestion& question = show_options.collective;
    std::vector<CLI::Option*> of_collective{
        show->add_option("--op", question.op, "collective: all_reduce, all_gather, ..."),
        show->add_option("--bytes", question.bytes, "collective: its size as in nccl-tests"),
        show->add_option("--group", question.group, "collective: tensor, data, expert, ..."),
        show->add_option("--format", question.format, "collective: table or json")
            ->check(one_of_these({"table", "json"}))};
    show->callback([this, of_collective] {
      for (const CLI::Option* option : of_collective) {
        if (*option && show_options.what != "collective")
          throw UserError(fmt::format("show {} has no {}: it is for `show collective`",
                                      show_options.what, option->get_name()));
      }
      chosen = [this] { return stepsim::show(show_options, std::cout); };
    });
  }

  void add_import() {
    CLI::App* import = app.add_subcommand("import", "write a scenario from another program's");
    import->require_subcommand(1);
    CLI::App* megatron = import->add_subcommand(
        "megatron", "Megatron-LM's command line, here or in a script (--file)");
    megatron->allow_extras();
    megatron->add_option("--file", import_options.file, "a script that holds the command line");
    CLI::App* deepspeed = import->add_subcommand("deepspeed", "a DeepSpeed configuration");
    deepspeed->add_option("config", import_options.file, "the JSON file")->required();
    deepspeed->add_option("--model", import_options.model, "a name in models/ or a path");
    deepspeed->add_option("--sequence-length", import_options.sequence_length, "tokens");
    add_import_topology(*import);
    for (CLI::App* from : {megatron, deepspeed}) {
      from->add_option("--cluster", import_options.cluster, "a name in scenarios/clusters/");
      from->add_option("--nodes", import_options.nodes, "default: as many as the split needs")
          ->check(CLI::Range(1, 1'000'000));
      from->add_option("-o", import_options.output, "file to write instead of standard output");
      from->callback([this, from] {
        import_options.from = from->get_name();
        import_options.arguments = from->remaining();
        chosen = [this] { return stepsim::import(import_options, std::cout, std::cerr); };
      });
    }
  }

  void add_import_topology(CLI::App& import) {
    CLI::App* matrix =
        import.add_subcommand("topo", "a cluster from what `nvidia-smi topo -m` prints");
    CLI::App* xml =
        import.add_subcommand("nccl-topo", "a cluster from NCCL's topology (NCCL_TOPO_DUMP_FILE)");
    for (CLI::App* from : {matrix, xml}) {
      from->add_option("file", import_options.file, "-: standard input")->required();
      from->add_option("--gpu", import_options.gpu, "a name in calib/gpus/");
      from->add_option("-o", import_options.output, "file to write instead of standard output");
      from->callback([this, from] {
        import_options.from = from->get_name();
        chosen = [this] { return stepsim::import_topology(import_options, std::cout); };
      });
    }
  }

  void add_calibrate() {
    CLI::App* calibrate = app.add_subcommand("calibrate", "make profiles from measurements");
    calibrate->require_subcommand(1);
    add_calibrate_fit(*calibrate);
    add_calibrate_cpu(*calibrate);
    add_calibrate_probe(*calibrate);
  }

  void add_calibrate_probe(CLI::App& calibrate) {
    CLI::App* probe =
        calibrate.add_subcommand("probe", "write a cluster file of what this machine is made of");
    probe->footer(
        "Reads /sys, /proc and nvidia-smi. What cannot be seen is a default that says so.\n"
        "Exit codes: 0 written, 2 wrong options or a file that cannot be understood, 3 no GPU,\n"
        "4 a file cannot be written.\n\n"
        "Example: stepsim calibrate probe -o scenarios/clusters/this-machine.yaml");
    probe->add_option("-o,--output", probe_options.output,
                      "file to write instead of standard output");
    probe->add_option("--root", probe_options.root,
                      "folder with a machine's sys/ and proc/, nvidia-smi-query.txt and "
                      "nvidia-smi-topo.txt, instead of this machine");
    probe->add_option("--gpu", probe_options.gpu, "a name in calib/gpus/; default: as recognised");
    probe->add_flag("--force", probe_options.force,
                    "also replace a file that somebody has changed");
    probe->callback([this] {
      chosen = [this] { return stepsim::calibrate_probe(probe_options, std::cout, std::cerr); };
    });
  }

  void add_calibrate_cpu(CLI::App& calibrate) {
    CLI::App* cpu = calibrate.add_subcommand("cpu", "measure this machine's CPU, and fit to that");
    cpu->footer(
        "Exit codes: 0 written, 2 wrong options, a file that somebody has changed, too little\n"
        "measured or no stepsim-measure-cpu, 3 it failed, 4 a file cannot be read or written.\n"
        "All files are written, or none.\n\n"
        "Example: stepsim calibrate cpu -o calib/gpus/this-machine.yaml");
    cpu->add_option(
           "-o,--output", cpu_options.output,
           "profile of a core to write, DIR/calib/gpus/NAME.yaml; one of MPI, a cluster and "
           "a scenario of that name go to DIR/calib/links and DIR/scenarios")
        ->required();
    cpu->add_option("--budget", cpu_options.budget, "time for measuring: 90s, 2min");
    cpu->add_option("--ranks", cpu_options.ranks,
                    "processes that are at work; default: two, one on a machine of one core")
        ->check(CLI::Range(1, 1024));
    cpu->add_option("--working-set", cpu_options.working_set,
                    "bytes that a training works on, like 16MiB; default: more than caches hold");
    cpu->add_option("--format", cpu_options.format, "table or json")
        ->check(one_of_these({"table", "json"}));
    cpu->add_flag("--force", cpu_options.force, "also replace files that somebody has changed");
    cpu->callback([this] {
      chosen = [this] { return stepsim::calibrate_cpu(cpu_options, std::cout, std::cerr); };
    });
  }

  void add_calibrate_fit(CLI::App& calibrate) {
    CLI::App* fit = calibrate.add_subcommand("fit", "fit profiles to files of measurements");
    fit->footer(
        "Exit codes: 0 written, 2 the measurements or options are wrong, 4 a file cannot be read\n"
        "or written. Nothing is written unless all is well.\n\n"
        "Example: stepsim calibrate fit my-h100.json -o calib/gpus/my-h100.yaml");
    fit->add_option("measurements", fit_options.measurements, "files: docs/calibration.md")
        ->required();
    fit->add_option("-o,--output", fit_options.output, "GPU profile to write, calib/gpus/NAME.yaml")
        ->required();
    fit->add_option("--link", fit_options.link,
                    "link profile to write of the collectives, calib/links/NAME.yaml");
    fit->add_option("--base", fit_options.base,
                    "profile for what was not measured; default: the nearest");
    fit->add_option("--base-link", fit_options.base_link,
                    "the same for the link; default: that of the base's clusters");
    fit->add_option("--name", fit_options.name,
                    "what the profile calls the GPU; default: as its driver does");
    fit->add_option("--seed", fit_options.seed, "of the half of the points that errors are of");
    fit->add_option("--format", fit_options.format, "table, markdown or json")
        ->check(one_of_these({"table", "markdown", "json"}));
    fit->add_flag("--force", fit_options.force, "also replace files that somebody has changed");
    fit->callback(
        [this] { chosen = [this] { return stepsim::calibrate_fit(fit_options, std::cout); }; });
  }

  void add_run() {
    CLI::App* run = app.add_subcommand("run", "simulate a scenario and print the answer");
    add_scenario(*run, run_options.scenario);
    run->add_option("--format", run_options.format, "table, json or csv")
        ->check(one_of_these({"table", "json", "csv"}));
    run->add_option("--trace", run_options.trace,
                    "write a Chrome trace (.json or .json.gz) for Perfetto")
        ->check([](const std::string& file) {
          return file.empty() ? "a file name, in .json or .json.gz, is missing" : "";
        });
    run->add_option("--fold", fold, "auto: simulate one rank of each kind; off: every rank")
        ->check(one_of_these({"auto", "off"}));
    run->add_option("--jobs", run_options.jobs,
                    "replicas at the same time (run.replicas); default: as many as cores")
        ->check(CLI::Range(1, 4096));
    run->add_flag("--stats", run_options.stats,
                  "also print wall time and memory of the simulation itself");
    run->callback([this] {
      run_options.fold = fold == "auto";
      run_options.colour = wants_colour();
      chosen = [this] { return stepsim::run(run_options, std::cout, std::cerr); };
    });
  }

  void add_validate() {
    CLI::App* validate =
        app.add_subcommand("validate", "predict measured runs, and say how far off that is");
    ValidateOptions& options = validate_options;
    validate->footer(
        "Exit codes: 0 within all tolerances, 1 a tolerance is broken or a row has no prediction,\n"
        "2 bad input, 3 interrupted, 4 a file cannot be read or written.\n\n"
        "Example: stepsim validate validate/suites/*.yaml --baseline validate/recorded.yaml");
    validate->add_option("suites", options.suites, "files: docs/validation.md")->required();
    validate->add_option("--table", options.table, "other rows in the same columns, for one suite")
        ->check(not_empty());
    validate
        ->add_option("--filter", options.filter,
                     "condition over columns and groups, as in 'gpus > 8'")
        ->check(not_empty());
    validate->add_option("--format", options.format, "table, json, csv, junit, github or markdown")
        ->check(one_of_these({"table", "json", "csv", "junit", "github", "markdown"}));
    validate->add_option("--jobs", options.jobs, "rows at the same time; default: as many as cores")
        ->check(CLI::Range(1, 4096));
    validate->add_flag("--rows", options.rows, "table: every row, of several suites too");
    validate->add_flag("--causes", options.causes, "table: the breakdown of each row");
    validate->add_option("--svg", options.svg, "write a picture: predicted over measured")
        ->check(not_empty());
    CLI::Option* baseline = validate->add_option("--baseline", options.baseline,
                                                 "fail where a group is worse than in this record");
    validate
        ->add_option("--record", options.record,
                     "write the errors there, those by kind of run to <stem>_runs.csv "
                     "beside it, and say what changed")
        ->check(not_empty())
        ->excludes(baseline);
    validate->callback([this] {
      validate_options.colour = wants_colour();
      validate_options.progress = isatty(STDERR_FILENO) != 0;
      chosen = [this] { return stepsim::validate(validate_options, std::cout, std::cerr); };
    });
  }

  void add_sweep() {
    CLI::App* sweep =
        app.add_subcommand("sweep", "simulate a scenario along axes, and find the best point");
    SweepOptions& options = sweep_options;
    sweep->footer(
        "VALUES are a list (1, 2, 4), a range (1..8, 10..100+10, 1MiB..256MiB*2) or both; linked\n"
        "keys take theirs in pairs: --vary a,b=1:8,2:4. Points that do not divide or fit are "
        "said.\n"
        "Exit codes: 0 done, 1 no point is ok, 2 bad input, 3 interrupted: --resume goes on,\n"
        "4 a file cannot be read or written.\n\n"
        "Example: stepsim sweep scenarios/mlp-buckets-8xv100.yaml "
        "--vary parallelism.data.bucket=1MiB..256MiB*2");
    add_scenario(*sweep, options.scenario);
    const auto repeatable = [](CLI::Option* option) {
      option->take_all()->allow_extra_args(false);
    };
    repeatable(sweep->add_option("--vary", options.vary, "path=values (repeatable): an axis"));
    repeatable(sweep->add_option("--where", options.where,
                                 "condition for points, as in 'tensor * pipeline <= 64' "
                                 "(repeatable)"));
    sweep->add_option("--random", options.random, "so many points of the grid, drawn")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000'000}));
    sweep->add_option("--seed", options.seed, "of that draw; default: 1");
    sweep->add_option("--objective", options.objective,
                      "what is best: step_time, mfu, tokens_per_s, samples_per_s, "
                      "tokens_per_s_per_gpu, memory or cost");
    sweep->add_option("--top", options.top, "best points that are listed; default: 10")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000}));
    sweep->add_option("--format", options.format, "table, json or csv")
        ->check(one_of_these({"table", "json", "csv"}));
    sweep->add_option("--svg", options.svg, "write a picture of the objective")->check(not_empty());
    sweep
        ->add_option("--db", options.store,
                     "file of results (SQLite); default: SCENARIO.sweep.db beside the scenario, "
                     "SCENARIO.2-of-8.sweep.db of a part")
        ->check(not_empty());
    CLI::Option* resume =
        sweep->add_flag("--resume", options.resume, "go on where the same sweep was stopped");
    sweep->add_flag("--restart", options.restart, "forget what the file has of the same sweep")
        ->excludes(resume);
    sweep
        ->add_option(
            "--jobs", options.jobs,
            "points at the same time; default: as many as cores, of several ranks (mpirun, "
            "srun) 1 each")
        ->check(CLI::Range(1, 4096));
    sweep
        ->add_option(
            "--shard", options.shard,
            "2/8: the second of eight parts of the points; stepsim merge unites their files")
        ->check(not_empty());
    sweep->add_option("--point-timeout", options.point_timeout,
                      "time that a point may take; default: 10min");
    sweep->add_option("--point-memory", options.point_memory,
                      "memory that the simulation of a point may take, like 2GiB");
    sweep->callback([this] {
      sweep_options.colour = wants_colour();
      sweep_options.progress = isatty(STDERR_FILENO) != 0;
      chosen = [this] { return stepsim::sweep(sweep_options, std::cout, std::cerr); };
    });
  }

  void add_search() {
    CLI::App* search = app.add_subcommand("search", "find the best way to split a scenario");
    SearchOptions& options = search_options;
    search->footer(
        "Exit codes: 0 a strategy was found, 1 none fits in memory, 2 bad input, 3 interrupted,\n"
        "4 a file could not be read or written.\n\n"
        "Example: stepsim search scenarios/gpt-22b-8xa100.yaml --only tensor=4,8 -o best.yaml");
    add_scenario(*search, options.scenario);
    search->add_option("--only", options.only, "axis=values: what to search, as in tensor=1,2,4")
        ->take_all()
        ->allow_extra_args(false);
    search->add_option("--gpus", options.gpus, "how many: 512, or several: 64..4096, 64,96,128")
        ->check(not_empty());
    search->add_option("--tokens", options.tokens, "length of the training: 300e9")
        ->check(not_empty());
    search->add_option("--objective", options.objective,
                       "of several numbers of GPUs: step_time, cost, mfu, tokens_per_s or memory");
    search->add_option("--svg", options.svg, "write a picture of several numbers of GPUs")
        ->check(not_empty());
    search->add_option("--keep", options.keep, "strategies to list")->check(CLI::Range(1, 1000));
    search
        ->add_option("--simulations", options.simulations,
                     "simulate at most so many, for each number of GPUs; default: 300")
        ->check(CLI::Range(1, 1'000'000));
    search->add_option("--budget", options.budget,
                       "time after which no simulation begins, for each number of GPUs: 60s");
    search
        ->add_option("--strategy-timeout", options.strategy_timeout,
                     "time that a simulation may take; default: 10min")
        ->check(not_empty());
    search->add_option("--format", options.format, "table, json or csv")
        ->check(one_of_these({"table", "json", "csv"}));
    search->add_option("-o,--output", options.output, "write the scenario with the best strategy")
        ->check(not_empty());
    search->add_option("--jobs", options.jobs, "simulations at the same time; default: cores")
        ->check(CLI::Range(1, 4096));
    search->callback([this] {
      search_options.colour = wants_colour();
      search_options.progress = isatty(STDERR_FILENO) != 0;
      chosen = [this] { return stepsim::search(search_options, std::cout, std::cerr); };
    });
  }

  void add_merge() {
    CLI::App* merge = app.add_subcommand("merge", "unite the files of a sweep's parts");
    merge->footer(
        "Files with the same sweep must agree where they have the same points. When something is\n"
        "wrong OUT stays as it was.\n"
        "Exit codes: 0 merged, 2 files that do not go together, 4 a file cannot be read or written."
        "\n\n"
        "Example: stepsim merge mine.sweep.db mine.*-of-8.sweep.db");
    merge->add_option("OUT", merge_options.into, "file of results; made where there is none")
        ->required()
        ->check(not_empty());
    merge->add_option("IN", merge_options.from, "files of results: of --shard, or any sweeps")
        ->required()
        ->check(not_empty());
    merge->callback(
        [this] { chosen = [this] { return stepsim::merge(merge_options, std::cout); }; });
  }

  void add_explain() {
    CLI::App* explain = app.add_subcommand(
        "explain", "say what the step waits for, and what would make it shorter");
    add_scenario(*explain, explain_options.scenario);
    explain->add_option("--format", explain_options.format, "table or json")
        ->check(one_of_these({"table", "json"}));
    explain->callback([this] {
      explain_options.colour = wants_colour();
      chosen = [this] { return stepsim::explain(explain_options, std::cout); };
    });
  }

  void add_compare() {
    CLI::App* compare =
        app.add_subcommand("compare", "say what differs between answers, cause by cause");
    CompareOptions& options = compare_options;
    compare->footer(
        "Exit codes: 0 compared, 1 worse than --baseline allows, 2 bad input, 3 a simulation "
        "could\n"
        "not complete, 4 a file cannot be read.\n\n"
        "Example: stepsim compare scenarios/gpt-launches-8xh100.yaml --vs host.mode=graph");
    compare
        ->add_option("files", options.files,
                     "scenarios (YAML), or results of `stepsim run --format json`")
        ->required()
        ->check(not_empty());
    compare->add_option("--set", options.overrides, "path=value, in all scenarios (repeatable)")
        ->take_all()
        ->allow_extra_args(false);
    compare->add_option("--vs", options.variants,
                        "path=value ...: compare with the first scenario with these changes on "
                        "top (repeatable)");
    compare
        ->add_option("--baseline", options.baseline,
                     "a result that the only file must be as good as, within --tolerance")
        ->check(not_empty());
    compare
        ->add_option("--tolerance", options.tolerance,
                     "by how much step time and memory may be worse: 2%")
        ->check(not_empty());
    compare->add_option("--format", options.format, "table, json, csv or markdown")
        ->check(one_of_these({"table", "json", "csv", "markdown"}));
    compare
        ->add_option("--jobs", options.jobs,
                     "simulations at the same time; default: as many as cores")
        ->check(CLI::Range(1, 4096));
    compare->callback([this] {
      compare_options.colour = wants_colour();
      chosen = [this] { return stepsim::compare(compare_options, std::cout, std::cerr); };
    });
  }
};

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
  CommandLine line;
  try {
    refuse_unknown_command(line.app, argc, argv);
    line.app.parse(argc, argv);
    const ExitCode code = line.chosen();
    if (!std::cout.flush()) throw IoError("cannot write the result to standard output");
    return static_cast<int>(code);
  } catch (const CLI::ParseError& error) {
    return line.app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::bad_input);
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
